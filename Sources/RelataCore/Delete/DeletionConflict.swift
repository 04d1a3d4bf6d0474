/// Rows whose deletion can't be planned, because SQLite's actions on them depend on the order of its foreign keys, or
/// contradict their meaning. A deletion that meets one is refused.
package struct DeletionConflict: Hashable, Sendable {
    /// The foreign key that is reported, as a number in ``Schema/foreignKeys``.
    package let key: Int
    package let reason: Reason

    /// Whether it is about rows that stay, regardless of their entity's other losses.
    package var isAboutSource: Bool { if case .unsetTarget = reason { true } else { false } }

    package enum Reason: Hashable, Sendable {
        /// Rows refer by the key to doomed ones, and SQLite's actions don't find them, or find others.
        case exceptions
        /// Rows refer by the key to doomed ones in a column that SQLite converts on account of another key.
        case converted(ConvertedColumn)
        /// Rows refer to doomed rows by the key and by another one with a shared column: one of the two unsets a column
        /// that the other needs.
        case sharedColumn(with: Int)
        /// Rows refer by the key to rows whose column another key unsets, before they are deleted at the latest.
        case unsetTarget(by: Int)
    }
}

extension Schema {
    /// The conflicts if some entities may lose objects, and some foreign keys become unset.
    func deletionConflicts(among losing: Set<Int>, unsetting: [Int]) -> [DeletionConflict] {
        var conflicts: [DeletionConflict] = []
        for key in foreignKeys where key.hasExceptions && losing.contains(key.target) {
            conflicts.append(DeletionConflict(key: key.index, reason: .exceptions))
            for column in key.converted {
                conflicts += foreignKeys.filter {
                    $0.index != key.index && $0.isEnforced && $0.target == key.target
                        && $0.targetColumns.contains { $0.isSameName(as: column.name) }
                }.map { DeletionConflict(key: $0.index, reason: .converted(column)) }
            }
        }
        for join in joins {
            for isSource in [true, false] where losing.contains(join.entity(isSource: isSource)) {
                for column in join.comparison(isSource: isSource).converted {
                    conflicts += foreignKeys.filter {
                        $0.isEnforced && $0.target == join.entity(isSource: isSource)
                            && $0.targetColumns.contains { $0.isSameName(as: column.name) }
                    }.map { DeletionConflict(key: $0.index, reason: .converted(column)) }
                }
            }
        }
        // Only keys without a relationship can share a column with others or refer to an unset one.
        guard foreignKeys.count > references.count else { return conflicts }
        let unset = unsetting.map { foreignKeys[$0] }
        let changed = unset + foreignKeys.filter { $0.unsupportedAction != nil && losing.contains($0.target) }
        for key in changed {
            for other in foreignKeys where other.index != key.index && other.isEnforced {
                guard other.source == key.source, losing.contains(other.target), other.isShared(with: key) else {
                    continue
                }
                // Of two that change the same columns, one represents both.
                let isFirst =
                    other.unsupportedAction != .setsDefault && (other.rule != .nullify || other.index > key.index)
                guard other.rule != .deny, isFirst, !other.isUnset(with: key) else { continue }
                conflicts.append(DeletionConflict(key: key.index, reason: .sharedColumn(with: other.index)))
            }
        }
        for key in unset {
            for other in foreignKeys where other.isEnforced && other.target == key.source {
                guard other.targetColumns.contains(where: key.holds) else { continue }
                conflicts.append(DeletionConflict(key: other.index, reason: .unsetTarget(by: key.index)))
            }
        }
        return conflicts
    }
}

extension SchemaForeignKey {
    /// Whether the two have a column in common.
    func isShared(with other: SchemaForeignKey) -> Bool {
        columns.contains(where: other.holds)
    }

    /// Whether a column is one of the key's.
    fileprivate func holds(_ column: String) -> Bool { columns.contains { $0.isSameName(as: column) } }

    /// Whether the two have the same columns and both are unset when a target is deleted.
    func isUnset(with other: SchemaForeignKey) -> Bool {
        source == other.source && rule == .nullify && other.rule == .nullify
            && Set(columns.map { $0.foldedName }) == Set(other.columns.map { $0.foldedName })
            && Set(unsetColumns.map { $0.foldedName }) == Set(other.unsetColumns.map { $0.foldedName })
    }
}
