import Foundation
import Relata

// Conditions on the objects that discs are linked to, with the same condition in Swift.

extension DiscCheck {
    static let toOnes: [DiscCheck] = {
        var checks: [DiscCheck] = []
        func add(
            _ name: String, _ condition: @escaping @Sendable (Disc.Fields) -> Condition,
            _ holds: @escaping @Sendable (Disc) -> Bool
        ) { checks.append(DiscCheck(name, condition, holds)) }
        let (one, two) = (Label(name: "One"), Label(name: "Two"))
        add("label == nil", { $0.label == nil }, { $0.label == nil })
        add("label != nil", { $0.label != nil }, { $0.label != nil })
        add("label ==", { $0.label == one }, { $0.label?.id == "One" })
        add("label !=", { $0.label != one }, { $0.label?.id != "One" })
        add("label == key", { $0.label == "Two" }, { $0.label?.id == "Two" })
        add("label in", { $0.label.in([one, two]) }, { ["One", "Two"].contains($0.label?.id) })
        add("label in keys", { $0.label.in(ids: ["Nil", "x"]) }, { $0.label?.id == "Nil" })
        add("label in nothing", { $0.label.in([]) }, { _ in false })
        add("a property of a to-one", { $0.label.name > "Of" }, { $0.theLabel.map { $0.name > "Of" } ?? false })
        add("one that may be unset", { $0.label.country == "NO" }, { $0.theLabel?.country == "NO" })
        add("and isn't", { $0.label.country != "NO" }, { $0.theLabel?.country != "NO" })
        add("and is", { $0.label.country == nil }, { $0.theLabel?.country == nil })
        add("two steps", { $0.band.origin.population > 100 }, { ($0.city?.population ?? 0) > 100 })
        add("two steps, unset", { $0.band.origin == nil }, { $0.city == nil })
        add("has-one", { $0.sleeve == nil }, { $0.sleeve.loaded == nil })
        add("of a has-one", { $0.sleeve.color.hasPrefix("S") }, { $0.sleeve.loaded?.color.hasPrefix("S") ?? false })
        return checks
    }()

    static let members: [DiscCheck] = {
        var checks: [DiscCheck] = []
        func add(
            _ name: String, _ condition: @escaping @Sendable (Disc.Fields) -> Condition,
            _ holds: @escaping @Sendable (Disc) -> Bool
        ) { checks.append(DiscCheck(name, condition, holds)) }
        @Sendable func average(_ numbers: [Int]) -> Double? {
            numbers.isEmpty ? nil : Double(numbers.reduce(0, +)) / Double(numbers.count)
        }
        let jazz = Keyword(word: "jazz")
        add("contains where", { $0.pieces.contains { $0.seconds > 120 } }, { $0.seconds.contains { $0 > 120 } })
        add("any", { $0.tags.any { $0.word == "rock" } }, { $0.words.contains("rock") })
        add("all", { $0.pieces.all { $0.seconds > 60 } }, { $0.seconds.allSatisfy { $0 > 60 } })
        add("none", { $0.pieces.none { $0.seconds == 0 } }, { !$0.seconds.contains(0) })
        add("isEmpty", { $0.pieces.isEmpty }, { $0.seconds.isEmpty })
        add("!isEmpty", { !$0.tags.isEmpty }, { !$0.words.isEmpty })
        add("contains object", { $0.tags.contains(jazz) }, { $0.words.contains("jazz") })
        add("contains key", { $0.tags.contains(id: "folk") }, { $0.words.contains("folk") })
        add(
            "contains one of", { $0.tags.contains(ids: ["folk", "live"]) },
            { !$0.words.isDisjoint(with: ["folk", "live"]) })
        add("count", { $0.pieces.count == 2 }, { $0.seconds.count == 2 })
        add("count of join rows", { $0.tags.count >= 2 }, { $0.words.count >= 2 })
        add("count where", { $0.pieces.count(where: { $0.seconds >= 120 }) == 1 }) {
            $0.seconds.filter { $0 >= 120 }.count == 1
        }
        add("sum", { $0.pieces.sum { $0.seconds } > 200 }, { $0.seconds.reduce(0, +) > 200 })
        add("minimum", { $0.pieces.minimum { $0.seconds } == 0 }, { $0.seconds.min() == 0 })
        add("maximum", { $0.pieces.maximum { $0.seconds } < 180 }, { $0.seconds.max().map { $0 < 180 } ?? false })
        add("average", { $0.pieces.average { $0.seconds } > 100 }, { average($0.seconds).map { $0 > 100 } ?? false })
        add("average of none", { $0.pieces.average { $0.seconds } == nil }, { $0.seconds.isEmpty })
        add("with the owner's", { disc in disc.pieces.any { $0.seconds > disc.copies * 60 } }) { disc in
            disc.seconds.contains { $0 > disc.copies * 60 }
        }
        return checks
    }()
}
