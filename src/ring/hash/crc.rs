//! The cyclic redundancy checks, a table each.

/// CRC-32 as in Ethernet and zlib.
pub(super) fn crc32(parts: &[&[u8]]) -> u32 {
    const TABLE: [u32; 256] = table(0xedb8_8320);
    !run(&TABLE, parts, !0)
}

/// CRC-16 with the polynomial 0xA001, from 0.
pub(super) fn crc16(parts: &[&[u8]]) -> u32 {
    const TABLE: [u32; 256] = table(0xa001);
    run(&TABLE, parts, 0)
}

fn run(table: &[u32; 256], parts: &[&[u8]], start: u32) -> u32 {
    let mut crc = start;
    for part in parts {
        for byte in *part {
            let [low, ..] = crc.to_le_bytes();
            // A byte cannot miss a table of 256.
            crc = table[usize::from(low ^ byte)] ^ (crc >> 8);
        }
    }
    crc
}

const fn table(polynomial: u32) -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u32;
    while byte < 256 {
        let mut crc = byte;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ polynomial } else { crc >> 1 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
}
