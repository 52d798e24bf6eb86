//! The current date and time in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// The current date in UTC: "2026-01-31".
pub(super) fn today() -> String {
    day_of(seconds())
}

/// The current time in UTC: "2026-01-31T12:00:00Z".
pub(crate) fn now() -> String {
    time_of(seconds())
}

/// Seconds since 1970.
fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn day_of(seconds: u64) -> String {
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

fn time_of(seconds: u64) -> String {
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", day_of(seconds))
}

/// Year, month and day of the day that is `days` after 1970-01-01, in the Gregorian calendar.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years that begin in March end with the leap day. A simple formula then gives the month of a day, and 400 years
    // have 146,097 days. There are 719,468 days between 0000-03-01 and 1970-01-01.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::{civil, time_of};

    #[test]
    fn times_have_a_day_and_an_hour() {
        assert_eq!(time_of(0), "1970-01-01T00:00:00Z");
        assert_eq!(time_of(951_868_799), "2000-02-29T23:59:59Z");
    }

    #[test]
    fn days_have_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(11_017), (2000, 3, 1));
        assert_eq!(civil(20_453), (2025, 12, 31));
        assert_eq!(civil(20_454), (2026, 1, 1));
        assert_eq!(civil(47_540), (2100, 2, 28));
        assert_eq!(civil(47_541), (2100, 3, 1));
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut last = civil(0);
        for day in 1..80_000 {
            let next = civil(day);
            let same_month = next == (last.0, last.1, last.2 + 1);
            let new_month = next == (last.0, last.1 + 1, 1) || next == (last.0 + 1, 1, 1) && last.1 == 12;
            assert!(same_month || new_month && last.2 >= 28, "{last:?} before {next:?}");
            last = next;
        }
    }
}
