//! A dot chart as SVG: a line for each operation, a dot for each dtype.

use std::fmt::Write;

/// The dtypes of the dots, in the order of a line's values.
pub(super) const DTYPES: [&str; 3] = ["f32", "f16", "bf16"];

/// Colours for light or dark pages.
pub(super) struct Theme {
    /// Its name.
    pub(super) name: &'static str,
    text: &'static str,
    faint: &'static str,
    grid: &'static str,
    /// Distinguishable with red-green colour blindness too.
    dots: [&'static str; 3],
}

/// For light pages.
pub(super) const LIGHT: Theme = Theme {
    name: "light",
    text: "#1f2328",
    faint: "#59636e",
    grid: "#d8dee4",
    dots: ["#0072b2", "#d55e00", "#00805e"],
};

/// For dark pages.
pub(super) const DARK: Theme = Theme {
    name: "dark",
    text: "#e6edf3",
    faint: "#9aa4ae",
    grid: "#333b44",
    dots: ["#56b4e9", "#f0a13a", "#3ecf9f"],
};

/// The contents of a chart.
pub(super) struct Chart {
    /// The heading.
    pub(super) title: String,
    /// The label of the axis.
    pub(super) axis: String,
    /// Values with a vertical line, and their labels.
    pub(super) ticks: Vec<(f64, String)>,
    /// The value whose line is drawn bold.
    pub(super) heavy: f64,
    /// Whether the axis is logarithmic.
    pub(super) logarithmic: bool,
    /// The number of decimals of values.
    pub(super) decimals: usize,
    /// The lines from top to bottom.
    pub(super) lines: Vec<Line>,
}

/// An operation.
pub(super) struct Line {
    /// Its name.
    pub(super) name: String,
    /// The target of its values.
    pub(super) bar: Option<f64>,
    /// A value for each of [`DTYPES`].
    pub(super) values: [Option<f64>; 3],
}

const HEIGHT: f64 = 24.0;
const TOP: f64 = 78.0;
const PLOT: f64 = 440.0;
const NUMBER: f64 = 46.0;
const LETTER: f64 = 6.8;

/// The chart as SVG text. Deterministic.
pub(super) fn draw(chart: &Chart, theme: &Theme) -> String {
    let longest = chart.lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    let left = longest as f64 * LETTER + 24.0;
    let width = left + PLOT + 3.0 * NUMBER + 34.0;
    let bottom = TOP + chart.lines.len() as f64 * HEIGHT;
    let scale = |value: f64| if chart.logarithmic { value.max(1e-9).log2() } else { value };
    let ends = [chart.ticks.first(), chart.ticks.last()].map(|tick| scale(tick.map_or(0.0, |tick| tick.0)));
    let x = |value: f64| left + (scale(value).clamp(ends[0], ends[1]) - ends[0]) / (ends[1] - ends[0]) * PLOT;

    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {:.0}\" \
         font-family=\"-apple-system, 'Segoe UI', Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"{}\">\n",
        bottom + 44.0,
        theme.text
    );
    let _ = writeln!(text, "<title>{}</title>", escaped(&chart.title));
    let _ = writeln!(
        text,
        "<text x=\"12\" y=\"22\" font-size=\"15\" font-weight=\"600\">{}</text>",
        escaped(&chart.title)
    );
    for (number, dtype) in DTYPES.iter().enumerate() {
        let (colour, at) = (theme.dots[number], left + number as f64 * 76.0);
        mark(&mut text, number, at + 6.0, 42.0, colour);
        let _ = writeln!(text, "<text x=\"{:.1}\" y=\"46\">{dtype}</text>", at + 16.0);
        let at = left + PLOT + 20.0 + (number as f64 + 1.0) * NUMBER;
        let _ = writeln!(
            text,
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{colour}\">{dtype}</text>",
            TOP - 10.0
        );
    }
    for (value, name) in &chart.ticks {
        let (at, heavy) = (x(*value), *value == chart.heavy);
        let (colour, thick) = if heavy { (theme.text, 1.5) } else { (theme.grid, 1.0) };
        let _ = writeln!(
            text,
            "<path d=\"M{at:.1} {:.1}V{bottom:.1}\" stroke=\"{colour}\" stroke-width=\"{thick}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{}\">{}</text>",
            TOP - 4.0,
            TOP - 10.0,
            if heavy { theme.text } else { theme.faint },
            escaped(name)
        );
    }
    for (number, line) in chart.lines.iter().enumerate() {
        let middle = TOP + (number as f64 + 0.5) * HEIGHT;
        let name = escaped(&line.name);
        let _ = writeln!(
            text,
            "<path d=\"M{left:.1} {middle:.1}h{PLOT:.1}\" stroke=\"{}\" stroke-width=\"0.6\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
            theme.grid,
            left - 10.0,
            middle + 4.0
        );
        if let Some(bar) = line.bar {
            let _ = writeln!(
                text,
                "<path d=\"M{:.1} {:.1}v{:.1}\" stroke=\"{}\" stroke-width=\"3\"/>",
                x(bar),
                middle - HEIGHT / 2.0 + 2.0,
                HEIGHT - 4.0,
                theme.faint
            );
        }
        for (number, value) in line.values.iter().enumerate() {
            let Some(value) = value else { continue };
            let colour = theme.dots[number];
            mark(&mut text, number, x(*value), middle + (number as f64 - 1.0) * 5.0, colour);
            let at = left + PLOT + 20.0 + (number as f64 + 1.0) * NUMBER;
            let _ = writeln!(
                text,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{colour}\">{value:.*}</text>",
                middle + 4.0,
                chart.decimals
            );
        }
    }
    let _ = writeln!(
        text,
        "<text x=\"{left:.1}\" y=\"{:.1}\" fill=\"{}\">{}</text>\n</svg>",
        bottom + 24.0,
        theme.faint,
        escaped(&chart.axis)
    );
    text
}

/// The mark of a dtype: a disc, a square, a diamond.
fn mark(text: &mut String, number: usize, x: f64, y: f64, colour: &str) {
    let _ = match number {
        0 => writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>"),
        1 => writeln!(
            text,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\" fill=\"{colour}\"/>",
            x - 3.5,
            y - 3.5
        ),
        _ => writeln!(
            text,
            "<path d=\"M{x:.1} {:.1}l4.8 4.8l-4.8 4.8l-4.8 -4.8z\" fill=\"{colour}\"/>",
            y - 4.8
        ),
    };
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let line = |name: &str, values| Line { name: name.into(), bar: Some(1.0), values };
        Chart {
            title: "a < b".into(),
            axis: "times".into(),
            ticks: vec![(0.5, "½".into()), (1.0, "1".into()), (2.0, "2".into())],
            heavy: 1.0,
            logarithmic: true,
            decimals: 2,
            lines: vec![
                line("add", [Some(0.5), Some(1.0), Some(2.0)]),
                line("sum", [None, Some(50.0), None]),
            ],
        }
    }

    fn attribute(line: &str, name: &str) -> f64 {
        let (_, rest) = line.split_once(&format!(" {name}=\"")).unwrap_or_else(|| panic!("{name} in {line}"));
        rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
    }

    #[test]
    fn dots_are_where_their_values_are() {
        let text = draw(&chart(), &LIGHT);
        let left = 3.0 * LETTER + 24.0;
        let disc =
            text.lines().filter(|line| line.starts_with("<circle")).nth(1).expect("after the legend's");
        assert!((attribute(disc, "cx") - left).abs() < 0.1, "{disc}");
        let squares: Vec<&str> = text.lines().filter(|line| line.starts_with("<rect")).collect();
        // 1 is in the middle; a value beyond the last tick is drawn on it.
        assert!((attribute(squares[1], "x") + 3.5 - (left + PLOT / 2.0)).abs() < 0.1, "{}", squares[1]);
        assert!((attribute(squares[2], "x") + 3.5 - (left + PLOT)).abs() < 0.1, "{}", squares[2]);
        assert!(text.contains(">50.00</text>") && text.contains("a &lt; b"), "{text}");
    }

    #[test]
    fn themes_differ_in_colours_alone() {
        let (light, dark) = (draw(&chart(), &LIGHT), draw(&chart(), &DARK));
        assert_ne!(light, dark);
        let plain = |mut text: String, theme: &Theme| {
            for (number, colour) in
                [theme.text, theme.faint, theme.grid].iter().chain(&theme.dots).enumerate()
            {
                text = text.replace(colour, &format!("colour {number}"));
            }
            text
        };
        assert_eq!(plain(light, &LIGHT), plain(dark, &DARK));
    }

    #[test]
    fn every_element_is_closed() {
        let text = draw(&chart(), &DARK);
        let count = |what: &str| text.matches(what).count();
        assert_eq!(count("<text"), count("</text>"));
        assert_eq!(count("<path") + count("<rect") + count("<circle"), count("/>"));
        assert_eq!((count("<svg"), count("</svg>"), count("NaN")), (1, 1, 0));
    }
}
