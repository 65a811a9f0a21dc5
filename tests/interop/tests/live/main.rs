//! Beside each other client: values, places, keys, compression, both ways.
