import Foundation

/// Arithmetic on dates.
extension PredicateParser {
    /// This moment, in microseconds since 1970.
    var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }

    /// A date and a duration, or the seconds between two dates; `nil` if neither side is a date.
    func dateArithmetic(
        _ operation: ArithmeticOperator, _ left: Operand, _ right: Operand
    ) throws(RelataError) -> Operand? {
        switch (left.kind, right.kind) {
        case (_, .offset(let offset)):
            guard operation == .add || operation == .subtract else {
                throw failure(right.column, "a duration can only be added to a date, or subtracted from one")
            }
            return try moved(left, operation == .add ? offset : -offset)
        case (.offset(let offset), _) where operation == .add: return try moved(right, offset)
        case (.value(let node, .date?), _) where operation == .subtract:
            return Operand(
                kind: .value(.function(.secondsBetween, [node, try date(right)]), .real), column: left.column)
        case (.literal, .value(let node, .date?)) where operation == .subtract:
            // The date whose column determines the form of a constant comes first.
            let seconds = ExpressionNode.function(.secondsBetween, [node, try date(left)])
            return Operand(kind: .value(.negated(seconds), .real), column: left.column)
        default: return nil
        }
    }

    private func moved(_ operand: Operand, _ offset: DateOffset) throws(RelataError) -> Operand {
        switch operand.kind {
        case .value(let node, .date?):
            return Operand(
                kind: .value(.function(.addingTime(offset), [node]), .date(.microseconds)), column: operand.column)
        case .literal(let literal):
            guard case .integer(let date) = try fit(literal, as: .date(.microseconds), "the date", operand.column),
                let moved = offset.added(to: date)
            else { throw failure(operand.column, "expected a date before a duration") }
            return Operand(kind: .literal(.argument(.value(.integer(moved)))), column: operand.column)
        default: throw failure(operand.column, "expected a date before a duration")
        }
    }

    private func date(_ operand: Operand) throws(RelataError) -> ExpressionNode {
        switch operand.kind {
        case .value(let node, .date?): return node
        case .literal(let literal):
            return .value(try fit(literal, as: .date(.microseconds), "the date", operand.column))
        default: throw failure(operand.column, "expected a date: only dates are subtracted from a date")
        }
    }
}
