//! Sizes for people.

/// `512 B`, `1.5 KiB`, `64.0 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (unit, size) in UNITS {
        if count >= size {
            return format!("{}.{} {unit}", count / size, count % size * 10 / size);
        }
    }
    format!("{count} B")
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_read_well() {
        for (count, expected) in
            [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (64 << 20, "64.0 MiB"), (u64::MAX, "17179869183.9 GiB")]
        {
            assert_eq!(bytes(count), expected);
        }
    }
}
