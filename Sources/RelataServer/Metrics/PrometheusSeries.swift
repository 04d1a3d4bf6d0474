#if Server
import CoreMetrics
import Synchronization

/// The kinds of metrics.
enum PrometheusKind {
    case counter, fractionalCounter, gauge, histogram, timer

    /// The name of the kind in the text.
    var type: String {
        switch self {
        case .counter, .fractionalCounter: "counter"
        case .gauge: "gauge"
        case .histogram, .timer: "histogram"
        }
    }

    /// The suffix for names that don't have it already.
    func suffix(of label: String) -> String {
        switch self {
        case .counter, .fractionalCounter: label.hasSuffix("_total") ? "" : "_total"
        case .timer: label.hasSuffix("_seconds") ? "" : "_seconds"
        case .gauge, .histogram: ""
        }
    }
}

/// The numbers of one metric with certain labels.
protocol PrometheusSeries: AnyObject, Sendable {
    func write(to text: inout PrometheusText, name: String, labels: String)
}

final class PrometheusCounter: PrometheusSeries, CounterHandler {
    private let count = Atomic<Int64>(0)

    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { count.store(0, ordering: .relaxed) }

    func write(to text: inout PrometheusText, name: String, labels: String) {
        let count = count.load(ordering: .relaxed)
        // A kind of request that never occurred gets no line.
        if count != 0 || labels.isEmpty { text.line(name, labels, Double(count)) }
    }
}

final class PrometheusGauge: PrometheusSeries, MeterHandler, RecorderHandler, FloatingPointCounterHandler {
    private let value = Mutex(0.0)

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func reset() { set(0.0) }

    func write(to text: inout PrometheusText, name: String, labels: String) {
        text.line(name, labels, value.withLock { $0 })
    }
}

final class PrometheusHistogram: PrometheusSeries, TimerHandler, RecorderHandler {
    /// The upper ends of the ranges that are counted.
    struct Bounds: Sendable {
        let ends: [Double]

        static let seconds = Bounds(
            ends: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30])
        static let sizes = Bounds(ends: [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000])
    }

    private struct Counts {
        var ranges: [Int]
        var count = 0
        var sum = 0.0
    }

    private let bounds: Bounds
    private let counts: Mutex<Counts>

    init(_ bounds: Bounds) {
        self.bounds = bounds
        counts = Mutex(Counts(ranges: Array(repeating: 0, count: bounds.ends.count)))
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let range = bounds.ends.firstIndex { value <= $0 }
        counts.withLock { counts in
            if let range { counts.ranges[range] += 1 }
            counts.count += 1
            counts.sum += value
        }
    }

    func write(to text: inout PrometheusText, name: String, labels: String) {
        let counts = counts.withLock { $0 }
        if counts.count == 0 && !labels.isEmpty { return }
        var sum = 0
        for (end, count) in zip(bounds.ends, counts.ranges) {
            sum += count
            text.line(
                name + "_bucket", PrometheusText.adding("le", PrometheusText.number(end), to: labels), Double(sum))
        }
        text.line(name + "_bucket", PrometheusText.adding("le", "+Inf", to: labels), Double(counts.count))
        text.line(name + "_sum", labels, counts.sum)
        text.line(name + "_count", labels, Double(counts.count))
    }
}
#endif
