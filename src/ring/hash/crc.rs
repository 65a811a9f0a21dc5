//! The cyclic redundancy checks, a table each.

/// CRC-32 as in Ethernet and zlib.
pub(super) fn crc32(parts: &[&[u8]]) -> u32 {
    !fold(parts, !0, |crc, byte| {
        let [low, ..] = crc.to_le_bytes();
        // A byte cannot miss a table of 256.
        CRC_32[usize::from(low ^ byte)] ^ (crc >> 8)
    })
}

/// CRC-16 with the polynomial 0x1021, from 0, but nothing is cut off at 16 bits.
pub(super) fn crc16(parts: &[&[u8]]) -> u32 {
    fold(parts, 0, |crc, byte| {
        let [_, second, ..] = crc.to_le_bytes();
        CRC_16[usize::from(second ^ byte)] ^ (crc << 8)
    })
}

fn fold(parts: &[&[u8]], start: u32, step: impl Fn(u32, u8) -> u32) -> u32 {
    let mut crc = start;
    for part in parts {
        for byte in *part {
            crc = step(crc, *byte);
        }
    }
    crc
}

const CRC_32: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0_u32;
    while byte < 256 {
        let mut crc = byte;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
};

const CRC_16: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0_u32;
    while byte < 256 {
        let mut crc = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        table[byte as usize] = crc & 0xffff;
        byte += 1;
    }
    table
};
