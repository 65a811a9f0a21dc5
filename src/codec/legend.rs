//! What flags mean to a codec, in words.

use std::fmt;

use super::choice::Codec;

/// What some flags say about a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlagMeaning {
    /// The flags, or bits of them.
    pub flags: u32,
    /// Whether they are added to others.
    pub added: bool,
    /// What they say.
    pub meaning: String,
}

impl fmt::Display for FlagMeaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plus = if self.added { "+" } else { "" };
        write!(f, "{plus}{} {}", self.flags, self.meaning)
    }
}

impl Codec {
    /// The flags that this codec knows, in ascending order, with what they say; then those added to a compressed value's.
    pub fn legend(&self) -> Vec<FlagMeaning> {
        let layout = self.layout();
        let packings = layout.packings();
        let mut legend = Vec::<FlagMeaning>::new();
        for flags in KNOWN_SOMEWHERE {
            let Some(meaning) = layout.meaning(flags) else { continue };
            // A bit that decides by itself, with others that do not count.
            let is_more_of = |known: &FlagMeaning| {
                known.flags != 0 && known.flags & flags == known.flags && known.meaning == meaning
            };
            let is_mark = packings.iter().any(|packing| packing.bits == flags);
            if !is_mark && !meaning.contains(", ") && !legend.iter().any(is_more_of) {
                legend.push(FlagMeaning { flags, added: false, meaning });
            }
        }
        let marks = packings.iter().map(|packing| FlagMeaning {
            flags: packing.bits,
            added: true,
            meaning: format!("compressed with {}", packing.form),
        });
        legend.extend(marks);
        legend
    }

    /// The name in error messages, by which codecs with the same values can be told apart.
    pub(crate) fn name(&self) -> &'static str {
        self.layout().name()
    }
}

/// The numbers that some client gives to a type; combinations of bits are left out.
const KNOWN_SOMEWHERE: [u32; 26] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x20, 0x40, 0x80, 0x100, 0x200, 0x300, 0x400, 0x500, 0x600,
    0x700, 0x800, 0x1000, 0x2000, 0x4000, 0x8000, 0x8010,
];

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;
    use crate::codec::Transcoder;

    fn stored(codec: &Codec, value: &(impl Serialize + ?Sized)) -> u32 {
        let transcoder = Transcoder::new(codec.clone(), crate::codec::Settings::default());
        transcoder.encode(value, &mut Vec::new()).expect("a value that every client has")
    }

    #[test]
    fn whatever_a_codec_stores_its_legend_has() {
        for codec in Codec::SHIPPED {
            if codec.name() == Codec::Raw.name() {
                continue;
            }
            let legend = codec.legend();
            for flags in [
                stored(&codec, "text"),
                stored(&codec, &7_i32),
                stored(&codec, &0.5),
                stored(&codec, &true),
            ] {
                let meaning = codec.meaning(flags).expect("its own flags");
                assert!(legend.iter().any(|known| known.meaning == meaning), "{codec:?} {flags}");
            }
        }
    }

    #[test]
    fn a_legend_names_types_and_compression() {
        let legend: Vec<String> =
            Codec::Pymemcache.legend().iter().map(ToString::to_string).collect();
        let expected = [
            "0 text or bytes",
            "1 a pickle",
            "2 an integer",
            "4 an integer",
            "16 text or bytes",
            "32784 JSON",
            "+8 compressed with zlib",
        ];
        assert_eq!(legend, expected);
    }
}
