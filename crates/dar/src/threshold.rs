//! The threshold above which a candidate counts as a dependency.

use hydra_core::records::{ThresholdRow, ThresholdTable};

/// The paper's grid: 0.15 to 0.50 by 0.05.
const GRID: [u8; 8] = [15, 20, 25, 30, 35, 40, 45, 50];

/// The balanced recall-precision score, `alpha * recall + (1 - alpha) * precision`.
///
/// The paper weighs the two by the class counts; the weights taken here are `alpha = negatives /
/// (positives + negatives)`, so that the rarer the dependencies are, the more a missed one costs.
/// This is a reading: the equation itself was not at hand.
pub fn brp(alpha: f64, recall: f64, precision: f64) -> f64 {
    alpha * recall + (1.0 - alpha) * precision
}

/// Recall, precision, F1 and BRP of class 1 for every threshold of the grid, `p1 >= T`, and the
/// threshold with the highest BRP (Table 1). `labels` are 0 or 1, one for each of `p1`.
pub fn brp_table(p1: &[f32], labels: &[u8]) -> ThresholdTable {
    let pairs = || p1.iter().zip(labels);
    let positives = pairs().filter(|(_, label)| **label == 1).count();
    let negatives = pairs().count() - positives;
    let ratio = |part: usize, whole: usize| {
        if whole == 0 {
            0.0
        } else {
            part as f64 / whole as f64
        }
    };
    let alpha = ratio(negatives, positives + negatives);
    let rows: Vec<ThresholdRow> = GRID
        .iter()
        .map(|&percent| {
            let threshold = f64::from(percent) / 100.0;
            let chosen = || pairs().filter(|(p, _)| f64::from(**p) >= threshold);
            let hits = chosen().filter(|(_, label)| **label == 1).count();
            let all = chosen().count();
            let (recall, precision) = (ratio(hits, positives), ratio(hits, all));
            ThresholdRow {
                threshold,
                recall,
                precision,
                f1: ratio(2 * hits, positives + all),
                brp: brp(alpha, recall, precision),
            }
        })
        .collect();
    let best = rows
        .iter()
        .fold(None::<&ThresholdRow>, |best, row| match best {
            Some(best) if best.brp >= row.brp => Some(best),
            _ => Some(row),
        })
        .map_or(0.0, |row| row.threshold);
    ThresholdTable {
        alpha,
        positives,
        negatives,
        rows,
        best,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_counted_by_hand() {
        // At 0.15: 2 of 2 positives, 4 chosen. At 0.50: 1 of 2, 1 chosen.
        let table = brp_table(&[0.9, 0.2, 0.3, 0.15, 0.1, 0.0], &[1, 1, 0, 0, 0, 0]);
        assert_eq!((table.positives, table.negatives), (2, 4));
        let [first, .., last] = table.rows.as_slice() else {
            panic!("no rows");
        };
        assert_eq!(
            (first.threshold, first.recall, first.precision),
            (0.15, 1.0, 0.5)
        );
        assert_eq!(
            (last.threshold, last.recall, last.precision),
            (0.5, 0.5, 1.0)
        );
        // alpha = 4/6: 2/3 * 1 + 1/3 * 1/2 = 5/6; at 0.20 the precision is 2/3: 8/9.
        assert!((first.brp - 5.0 / 6.0).abs() < 1e-12);
        assert_eq!(table.best, 0.2);
        assert!((table.rows[1].brp - 8.0 / 9.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_gives_zeros_not_nan() {
        let table = brp_table(&[], &[]);
        assert!(table.rows.iter().all(|r| r.brp == 0.0 && r.f1 == 0.0));
        assert_eq!(table.best, 0.15);
    }
}
