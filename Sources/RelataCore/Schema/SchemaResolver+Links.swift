/// Views, references and their rules.
extension SchemaResolver {
    /// Finds the reference behind each has-one and to-many.
    mutating func resolveViews() {
        for (number, draft) in drafts {
            // A view of an entity that isn't resolved is as it was.
            guard let old, number < old.references.count, let view = old.references[number].inverse,
                isCopied(draft.target),
                let relationship = entities[draft.target].relationship(view)
            else { continue }
            views[number] = View(entity: draft.target, relationship: relationship)
        }
        for index in scope {
            for relationship in relationships[index] {
                if case .hasOne(let inverse) = relationship.kind {
                    resolveView(relationship, inverse: inverse, of: index)
                } else if case .toMany(let inverse) = relationship.kind {
                    resolveView(relationship, inverse: inverse, of: index)
                }
                checkArguments(of: relationship, entity: index)
            }
        }
    }

    private mutating func resolveView(_ relationship: Relationship, inverse: String, of index: Int) {
        guard let target = tableIndex[relationship.target] else { return }
        let here = entities[index].name
        guard case .toOne? = entities[target].relationship(inverse)?.kind,
            let number = draftNumber(inverse, of: target)
        else {
            let known = entities[target].relationships.filter { relationship in
                if case .toOne = relationship.kind { relationship.target == here } else { false }
            }.map(\.name)
            let fix =
                known.isEmpty
                ? "declare `var \(inverse): ToOne<\(here)>?` in \(relationship.target)"
                : "name \(known.joined(separator: " or ")), which points at \(here)"
            report(index, relationship.name, "its inverse \(relationship.target).\(inverse) isn't a to-one: \(fix)")
            return
        }
        guard self.target(ofDraft: number) == here else {
            report(
                index, relationship.name,
                "its inverse \(relationship.target).\(inverse) points at \(self.target(ofDraft: number)), "
                    + "not at \(here): name a to-one of \(relationship.target) that points at \(here)")
            return
        }
        if let other = views[number] {
            report(
                index, relationship.name,
                "\(relationship.target).\(inverse) already has the view \(other.relationship.name): keep one")
            return
        }
        views[number] = View(entity: index, relationship: relationship)
    }

    mutating func resolveReferences() {
        for (number, draft) in drafts.sorted(by: { $0.key < $1.key }) {
            let view = views[number]?.relationship
            let source = entities[draft.source]
            let name = draft.relationship.name
            var orderColumn: String?
            var isOrderStored = false
            switch view?.order {
            case nil: break
            case .stored:
                orderColumn = name + "Position"
                isOrderStored = true
            case .attribute(let attribute):
                // A number with a fraction is for lists whose order is only read, like those of other programs' tables.
                if ![.integer, .real].contains(source.attribute(attribute)?.type) {
                    report(
                        draft.target, view?.name,
                        "it is ordered by \(source.name).\(attribute), which isn't an integer attribute: "
                            + "declare `var \(attribute): Int` there, or use `ordered: true`")
                }
                orderColumn = source.attribute(attribute)?.column
            }
            var isUnique = source.uniques.contains([name]) || source.key == [name]
            if case .hasOne? = view?.kind { isUnique = true }
            references.put(
                Reference(
                    index: number, source: draft.source, property: name, columns: draft.columns, target: draft.target,
                    isOptional: draft.isOptional, isUnique: isUnique, inverse: view?.name,
                    onTargetDelete: targetRule(of: draft, view: view), onSourceDelete: sourceRule(of: draft),
                    removeRule: view?.removeRule ?? .nullify, orderColumn: orderColumn, isOrderStored: isOrderStored,
                    minimumCount: view?.minimumCount,
                    maximumCount: view?.maximumCount, comparison: draft.relationship.comparison), at: number)
        }
    }

    /// The rule of the target's view wins, then the reference's own; an undeclared rule never loses an object.
    private mutating func targetRule(of draft: ReferenceDraft, view: Relationship?) -> DeleteRule {
        let own = draft.relationship.onTargetDelete
        let name = draft.relationship.name
        if let own, let other = view?.deleteRule, own != other {
            report(
                draft.source, name,
                "onTargetDelete says \(own) and the deleteRule of \(entities[draft.target].name).\(view?.name ?? "") "
                    + "says \(other) for the same deletion: remove one of the two")
        }
        let rule = view?.deleteRule ?? own ?? (draft.isOptional ? .nullify : .deny)
        if rule == .nullify && !draft.isOptional {
            let (entity, property) = view?.deleteRule != nil ? (draft.target, view?.name) : (draft.source, name)
            report(
                entity, property,
                "nullify can't unset \(entities[draft.source].name).\(name), which is required: "
                    + "make that to-one optional, or use cascade or deny")
        }
        return rule
    }

    /// The deletion of a target doesn't affect nullify or noAction: the key is deleted with its row.
    private func sourceRule(of draft: ReferenceDraft) -> DeleteRule {
        switch draft.relationship.deleteRule {
        case .cascade: .cascade
        case .deny: .deny
        case .nullify, .noAction, nil: .nullify
        }
    }

    /// The invalid declarations of each kind of relationship.
    private mutating func checkArguments(of relationship: Relationship, entity: Int) {
        let name = relationship.name
        if let minimum = relationship.minimumCount, minimum < 0 {
            report(entity, name, "its minimum is below 0: use 0 or more")
        }
        if let maximum = relationship.maximumCount, maximum < 1 {
            report(entity, name, "its maximum is below 1: use 1 or more")
        }
        if let minimum = relationship.minimumCount, let maximum = relationship.maximumCount, minimum > maximum {
            report(entity, name, "its minimum \(minimum) is above its maximum \(maximum): swap or fix them")
        }
        let hasCounts = relationship.minimumCount != nil || relationship.maximumCount != nil
        if case .through = relationship.kind,
            relationship.deleteRule != nil || relationship.order != nil || hasCounts
        {
            report(entity, name, "it is read-only: declare rule, order and counts on the list that it goes through")
        }
        let isToOne = if case .toOne = relationship.kind { true } else { false }
        if relationship.onTargetDelete != nil && !isToOne {
            report(
                entity, name, "onTargetDelete is for a to-one: use deleteRule, on the side whose deletion it is about")
        }
        if relationship.removeRule != nil && !relationship.isView {
            report(
                entity, name,
                "removeRule is for the view of a to-one: declare it on a to-many or has-one that has an inverse")
        }
        guard !relationship.isToMany else { return }
        if relationship.order != nil { report(entity, name, "only a to-many can be ordered: remove the order") }
        if hasCounts { report(entity, name, "only a to-many has counts: make it optional or required instead") }
    }
}
