use proptest::prelude::*;

use super::super::scan::{dialect, scan};
use super::{Table, read_cells};

fn table(text: &str) -> Table {
    Table::parse(text.as_bytes()).unwrap_or_else(|faults| panic!("{text:?}: {faults:?}"))
}

fn cells(text: &str) -> Vec<Vec<String>> {
    table(text).rows.into_iter().map(|row| row.cells).collect()
}

fn faults(text: &str) -> Vec<String> {
    Table::parse(text.as_bytes())
        .expect_err(text)
        .iter()
        .map(|f| format!("{}:{}: {}", f.line, f.column, f.message))
        .collect()
}

#[test]
fn spreadsheets_habits_are_read() {
    let expected = vec![vec!["T1".to_owned(), "say \"hi\";\nbye".to_owned(), String::new()]];
    for text in [
        "id,title,deps\nT1,\"say \"\"hi\"\";\nbye\",\n",
        "\u{feff}id,title,deps\r\nT1,\"say \"\"hi\"\";\r\nbye\",\r\n",
        "\u{feff}\"id\",\"title\",\"deps\"\n\"T1\",\"say \"\"hi\"\";\nbye\",\"\"",
        "id;title;deps\r\nT1;\"say \"\"hi\"\";\nbye\";\r\n;;\r\n;;\r\n",
        "sep=;\r\nid;title;deps\r\nT1;\"say \"\"hi\"\";\r\nbye\";\r\n",
        "id\ttitle\tdeps\nT1\t\"say \"\"hi\"\";\nbye\"\t\n\n",
        "\n\nid,title,deps,,\n\nT1,\"say \"\"hi\"\";\nbye\",,,\n,,,,\n  \n",
        "id,title,deps\nT1,\"say \"\"hi\"\";\nbye\",,,,,\n",
        "id,title,deps\rT1,\"say \"\"hi\"\";\nbye\",\r",
    ] {
        assert_eq!(cells(text), expected, "{text:?}");
        assert_eq!(table(text).columns, ["id", "title", "deps"], "{text:?}");
    }
}

#[test]
fn the_separator_comes_from_the_header_alone() {
    assert_eq!(cells("id,deps\nT2,a;b;c;d\n"), [["T2", "a;b;c;d"]]);
    assert_eq!(cells("id;\"a,b,c,d\";x\n1;2;3\n"), [["1", "2", "3"]]);
    assert_eq!(cells("only\na;b\n"), [["a;b"]]);
    assert_eq!(cells("a,b;c\n1,2\n"), [["1", "2"]]);
}

#[test]
fn places_are_lines_and_characters_of_the_file() {
    let table = table("sep=,\nid,説明,x\n\n1,\"日本\n語\",y\n2,b,c\n");
    assert_eq!(table.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [4, 6]);
    assert_eq!(table.position(0, "説明"), Some((4, 3)));
    assert_eq!(table.position(0, "x"), Some((5, 4)));
    assert_eq!(table.position(1, "x"), Some((6, 5)));
    assert_eq!(table.position(2, "x"), None);
}

#[test]
fn crlf_is_one_line_end_everywhere() {
    let table = table("id,x\r\n\r\n1,\"a\r\nb\"\r\n2,c\r\n");
    assert_eq!(table.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [3, 5]);
    assert_eq!(
        faults("id,x\r\n\"a\r\nb\"c,1\r\n"),
        ["3:3: text follows the closing quote of the cell that opens at 2:1"]
    );
}

#[test]
fn every_fault_is_named_with_its_place() {
    for (text, expected) in [
        ("", vec!["1:1: the file is empty"]),
        ("\n ,, \n", vec!["1:1: the file is empty"]),
        ("id,title,id\n", vec!["1:10: the column `id` is there twice, first at 1:1"]),
        ("id,,title\n1,2,3\n", vec!["1:4: a column has no name"]),
        ("id,\n1,x\n", vec!["2:3: the row has 2 cells, the header 1: this one has no column"]),
        (
            "a,b,c\n1,2\n1,2,3\n日,2,3,4\n",
            vec![
                "2:1: the row has 2 cells, the header 3: `c` and what follows is missing",
                "4:7: the row has 4 cells, the header 3: this one has no column",
            ],
        ),
        ("a,b\n1,2\n日本,\"open\n3,4\n", vec!["3:4: the quote that opens here is never closed"]),
        (
            "a,b\n\"x\"y,2\n1,\"he said \"hi\" to, me\"\n3\n",
            vec![
                "2:4: text follows the closing quote of the cell that opens at 2:1",
                "3:13: text follows the closing quote of the cell that opens at 3:3",
                "4:1: the row has 1 cells, the header 2: `b` and what follows is missing",
            ],
        ),
        ("a,b\n1, \"x, y\"\n", vec!["2:4: a space stands before the opening quote"]),
    ] {
        assert_eq!(faults(text), expected, "{text:?}");
    }
}

#[test]
fn quotes_escaped_with_a_backslash_are_named_as_such() {
    let faults = Table::parse(b"a,b\n\"say \\\"hi\\\"\",2\n").expect_err("refused");
    assert_eq!(
        faults.iter().map(|f| (f.line, f.column, f.hint.as_str())).collect::<Vec<_>>(),
        [(2, 8, "write a quote inside a cell as \"\", not as \\\"")]
    );
    assert_eq!(cells("a,b\n\"C:\\dir\\\",2\n"), [["C:\\dir\\", "2"]]);
}

#[test]
fn utf16_of_excel_is_read_and_written_as_utf8_with_its_mark() {
    let bytes: Vec<u8> = "\u{feff}id\t題\r\n1\t\"日\r\n本\"\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let table = Table::parse(&bytes).expect("reads");
    assert_eq!(table.to_csv(), "\u{feff}id,題\n\"1\",\"日\n本\"\n");
}

#[test]
fn a_flood_of_faults_is_dammed() {
    let said = faults(&format!("a,b\n{}", "1\n".repeat(5000)));
    assert_eq!(said.len(), 101);
    assert_eq!(said.last().map(String::as_str), Some("102:1: 4900 more faults from here on"));
}

#[test]
fn a_quote_inside_an_unquoted_cell_is_a_character() {
    assert_eq!(cells("a,b\n5\" disk,x\n"), [["5\" disk", "x"]]);
}

#[test]
fn writing_quotes_cells_and_keeps_what_it_does_not_know() {
    let mut table = table("\u{feff}id;my column;\"a,b\"\r\nT1;keep;x\r\n");
    table.set(0, "id", "T\"2\"");
    table.set(0, "nothing", "y");
    table.set(7, "id", "y");
    table.add_column("status");
    table.add_column("status");
    table.push(vec!["T3".to_owned()]);
    assert_eq!(
        table.to_csv(),
        "\u{feff}id,my column,\"a,b\",status\n\"T\"\"2\"\"\",\"keep\",\"x\",\"\"\n\"T3\",\"\",\"\",\"\"\n"
    );
    assert_eq!((table.cell(0, "my column"), table.cell(0, "x"), table.cell(9, "id")), (Some("keep"), None, None));
}

#[test]
fn missing_columns_name_the_nearest() {
    let said: Vec<String> =
        table("ID,titel,x\n").require_columns(&["id", "title", "deps"]).iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "1:1: the column `id` is missing — rename `ID` to `id`",
            "1:1: the column `title` is missing — rename `titel` to `title`",
            "1:1: the column `deps` is missing — add `deps` to the first line",
        ]
    );
}

#[test]
fn a_row_of_quoted_empty_cells_is_a_row() {
    assert_eq!(cells("a,b\n\"\",\"\"\n,\n"), [["", ""]]);
}

#[test]
fn crlf_in_a_cell_stays_where_records_end_with_lf() {
    assert_eq!(cells("a\n\"x\r\ny\"\n"), [["x\r\ny"]]);
}

#[test]
fn time_is_linear_in_the_size() {
    for text in ["\"".repeat(400_000), "a,\"\"\"".repeat(100_000), ",".repeat(400_000), "\"a\"b\n".repeat(50_000)] {
        let _ = Table::parse(text.as_bytes());
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        columns in prop::collection::btree_set("[a-z\"';, ぁ-ん\n]{1,6}", 1..5),
        rows in prop::collection::vec(prop::collection::vec(any::<String>(), 4), 0..5),
        bom: bool,
    ) {
        let columns: Vec<String> = columns.into_iter().map(|c| c.trim().to_owned()).filter(|c| !c.is_empty()).collect();
        let mut seen = std::collections::BTreeSet::new();
        let columns: Vec<String> = columns.into_iter().filter(|c| seen.insert(c.clone())).collect();
        prop_assume!(!columns.is_empty());
        let width = columns.len();
        let mut table = Table::new(columns);
        table.bom = bom;
        rows.into_iter().for_each(|mut cells| { cells.truncate(width); table.push(cells) });
        let text = table.to_csv();
        let again = Table::parse(text.as_bytes()).map_err(|faults| TestCaseError::fail(format!("{text:?} {faults:?}")))?;
        prop_assert_eq!(&again.columns, &table.columns);
        prop_assert_eq!(again.bom, bom);
        let cells = |table: &Table| table.rows.iter().map(|row| row.cells.clone()).collect::<Vec<_>>();
        prop_assert_eq!(cells(&again), cells(&table));
        prop_assert_eq!(again.to_csv(), text);
    }

    #[test]
    fn no_bytes_upset_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[a\"',;\t\n\r \u{feff}日]{0,60}") {
        for bytes in [bytes.as_slice(), text.as_bytes()] {
            if let Err(faults) = Table::parse(bytes) {
                prop_assert!(!faults.is_empty());
                prop_assert!(faults.iter().all(|f| f.line >= 1 && f.column >= 1));
            }
        }
    }

    #[test]
    fn the_scan_cuts_as_the_csv_crate_does(text in "[ab\"';,\t\n\r 日]{0,60}") {
        let dialect = dialect(&text);
        let scan = scan(&dialect);
        let records = read_cells(dialect.text, dialect.separator, &scan);
        let widths: Vec<usize> = records.iter().map(Vec::len).collect();
        prop_assert_eq!(widths, scan.records.iter().map(|record| record.cells.len()).collect::<Vec<_>>());
    }

    #[test]
    fn all_three_separators_read_the_same(rows in prop::collection::vec(prop::collection::vec("[a-z\",;\t\n]{0,6}", 3), 0..4)) {
        let written = |separator: &str| {
            let row = |cells: &Vec<String>| cells.iter().map(|c| format!("\"{}\"", c.replace('"', "\"\""))).collect::<Vec<_>>().join(separator);
            let body: String = rows.iter().map(|cells| row(cells) + "\r\n").collect();
            format!("id{separator}b{separator}c\r\n{body}")
        };
        let expected = cells(&written(","));
        prop_assert_eq!(&expected, &rows);
        prop_assert_eq!(cells(&written(";")), expected.clone());
        prop_assert_eq!(cells(&written("\t")), expected);
    }
}
