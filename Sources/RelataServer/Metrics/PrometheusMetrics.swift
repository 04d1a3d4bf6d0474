#if Server
import CoreMetrics
import Synchronization

/// Metrics in memory, exported as text in Prometheus's format.
///
/// A factory of swift-metrics: an app that passes it to `MetricsSystem.bootstrap` finds its own metrics at `/metrics`,
/// too. Timers and aggregating recorders become histograms, counters get the suffix `_total`, and times are seconds.
public final class PrometheusMetrics: MetricsFactory, Sendable {
    /// The maximum number of series of a metric. Further ones are counted together, regardless of their labels.
    public static let maximumSeries = 1000

    private struct Family: Sendable {
        let kind: PrometheusKind
        var series: [String: any PrometheusSeries] = [:]
    }

    private let families = Mutex<[String: Family]>([:])

    /// Starts empty.
    public init() {}

    /// All metrics, in Prometheus's text format.
    public func text() -> String {
        var text = PrometheusText()
        for (name, family) in families.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            text.begin(name, family.kind)
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                series.write(to: &text, name: name, labels: labels)
            }
        }
        return text.text
    }

    /// The series of that name and those labels; created if it doesn't exist.
    ///
    /// A name that another kind of metric has already gets a separate series, which isn't exported.
    private func series<Series: PrometheusSeries>(
        _ label: String, _ dimensions: [(String, String)], _ kind: PrometheusKind, _ make: () -> Series
    ) -> Series {
        let name = PrometheusText.name(label) + kind.suffix(of: label)
        let labels = PrometheusText.labels(dimensions)
        return families.withLock { families in
            var family = families[name] ?? Family(kind: kind)
            guard family.kind == kind else { return make() }
            let isFull = family.series.count >= Self.maximumSeries && family.series[labels] == nil
            let labels = isFull ? PrometheusText.labels([("overflow", "true")]) : labels
            if let known = family.series[labels] as? Series { return known }
            let made = make()
            family.series[labels] = made
            families[name] = family
            return made
        }
    }

    // MARK: MetricsFactory

    /// A counter.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter) { PrometheusCounter() }
    }

    /// A counter that takes fractions.
    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions, .fractionalCounter) { PrometheusGauge() }
    }

    /// A gauge that can be changed.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge) { PrometheusGauge() }
    }

    /// A histogram, or a gauge for one that doesn't aggregate.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        if aggregate { return series(label, dimensions, .histogram) { PrometheusHistogram(.sizes) } }
        return series(label, dimensions, .gauge) { PrometheusGauge() }
    }

    /// A histogram of seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .timer) { PrometheusHistogram(.seconds) }
    }

    /// Does nothing: counts aren't reset.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Does nothing: counts aren't reset.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    /// Does nothing: counts aren't reset.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Does nothing: counts aren't reset.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Does nothing: counts aren't reset.
    public func destroyTimer(_ handler: any TimerHandler) {}
}
#endif
