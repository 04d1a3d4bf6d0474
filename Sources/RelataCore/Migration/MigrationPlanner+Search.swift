/// The search indexes: each is created, rebuilt with all words, or dropped as a whole.
extension MigrationPlanner {
    mutating func planSearch() throws(RelataError) {
        for table in schema.tables(among: part) { try planSearch(of: table) }
        for table in old?.tables(among: part) ?? [] where dropped.contains(table.sqlName.foldedName) {
            // On other engines it is dropped with its table.
            if dialect == .sqlite, let index = SearchIndex(table) { plan.completion += index.removal(dialect) }
        }
    }

    private mutating func planSearch(of table: Table) throws(RelataError) {
        let name = table.sqlName.foldedName
        let before = oldTable(table).flatMap(SearchIndex.init)
        let place = Place(table.name)
        guard let wanted = SearchIndex(table) else {
            guard let before else { return }
            report(place, "its search is dropped")
            return plan.preparation.insert(contentsOf: before.removal(dialect), at: 0)
        }
        let isTouched =
            remade.contains(name) || rekeyed.contains(name)
            || wanted.columns.contains { retyped[name]?.contains($0.foldedName) == true }
        if !isTouched, try facts(.hasSearch(wanted)) { return }
        if isForeign { return refuseLack(place, "the index of its search") }
        if tables[name] != nil {
            let what = table.entity.search?.joined(separator: ", ") ?? ""
            report(place, before == nil ? "a search of \(what)" : "its search of \(what) is rebuilt")
        }
        // Conflicting objects are dropped first, under the name that the table has until then.
        var former = wanted.removal(dialect)
        if let before, before.table != wanted.table { former = before.removal(dialect) + former }
        plan.preparation.insert(contentsOf: former, at: 0)
        plan.completion += wanted.creation(dialect) + wanted.filling(dialect)
    }
}
