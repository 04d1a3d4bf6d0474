import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Department {
    @Attribute(.primaryKey) let name: String
    @Relationship(deleteRule: .deny, inverse: \Employee.department) var employees: ToMany<Employee>
}

@Model struct Employee {
    let id: ID<Employee>
    @Attribute(.notEmpty) var name: String
    @Attribute(.range(0...)) var salary: Int
    var department: ToOne<Department>
    var manager: ToOne<Employee>?
    @Relationship(deleteRule: .nullify, inverse: \Employee.manager) var reports: ToMany<Employee>
    @Relationship(ordered: true) var projects: ToMany<Project>
}

@Model struct Project {
    let id: ID<Project>
    var title: String
    @Relationship(inverse: \Employee.projects) var members: ToMany<Employee>
}

@Test func companyComingFromCoreData() async throws {
    try await example {
        let store = try await Store.open(temporary("company.sqlite"), for: Employee.self)
        let engineering = Department(name: "Engineering")
        let engine = Project(title: "Engine")
        var ada = Employee(name: "Ada", salary: 9000, department: ToOne(engineering), projects: ToMany([engine]))
        ada.reports.add(Employee(name: "Ben", salary: 5000, department: ToOne(engineering)))
        ada = try await store.save(ada)

        let cleo = Employee(name: "Cleo", salary: 7000, department: ToOne(engineering), manager: ToOne(ada))
        try await store.save(cleo)
        print(try await store.related(to: ada) { $0.reports }.map(\.name).sorted())
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CoreData.md", "Documentation/ComingFrom/CoreData.zh-Hans.md")
        // docs: show

        let wellPaid = Employee.where { $0.salary > 6000 && $0.department.name == "Engineering" }
            .sorted { $0.name }.limit(20)
        print(try await store.fetch(wellPaid).map(\.name), try await store.count(wellPaid))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CoreData.md", "Documentation/ComingFrom/CoreData.zh-Hans.md")
        // docs: show

        let members = Employee.all.matching("ANY projects.title BEGINSWITH[c] %@", "eng")
        let leads = Employee.where { $0.reports.count > 1 || $0.reports.contains { $0.salary > 6000 } }
        print(try await store.fetch(members).map(\.name), try await store.fetch(leads).map(\.name))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CoreData.md", "Documentation/ComingFrom/CoreData.zh-Hans.md")
        // docs: show

        let everybody = Employee.sorted { $0.name }.including {
            $0.department
            $0.reports.sorted { $0.salary.descending }.limit(1)
        }
        for employee in try await store.fetch(everybody) {
            print(employee.name, try employee.department.object.name, try employee.reports.objects.map(\.name))
        }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CoreData.md", "Documentation/ComingFrom/CoreData.zh-Hans.md")
        // docs: show

        try await store.update(ada.id) { $0.salary += 500 }
        try await store.update(Employee.where { $0.salary < 6000 }) { $0.salary.set(to: $0.salary + 100) }
        print(try await store.fetch(Employee.sorted { $0.name }).map(\.salary))
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CoreData.md", "Documentation/ComingFrom/CoreData.zh-Hans.md")
        // docs: show

        do {
            try await store.delete(engineering)
        } catch RelataError.deleteDenied(let blockers) {
            print(blockers.count, "employees are still there")
        }
        for link in try await store.deletionPlan(for: ada).nullified {
            print(link.property, "of", link.keys.count, "employees would be unset")
        }
        try await store.delete(ada)
        print(try await store.count(Employee.where { $0.manager == nil }), "without a manager")
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CoreData.md", "Documentation/ComingFrom/CoreData.zh-Hans.md")
        // docs: show

        let results = try await store.saveEach([
            Employee(name: "Dora", salary: 4000, department: ToOne(engineering)),
            Employee(name: "Eli", salary: -1, department: ToOne(engineering)),
        ])
        for case .failure(let error) in results { print(error) }
        print(try await store.count(Employee.all), "employees")
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CoreData.md", "Documentation/ComingFrom/CoreData.zh-Hans.md")
        // docs: show

        var changes = store.observe(Employee.sorted { $0.name }).differences.makeAsyncIterator()
        print(try await changes.next()?.inserted.map(\.element.name) ?? [])
        try await store.update(cleo.id) { $0.name = "Zoe" }
        if let difference = try await changes.next() {
            for move in difference.moved { print(move.element.name, "from", move.from, "to", move.to) }
        }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CoreData.md", "Documentation/ComingFrom/CoreData.zh-Hans.md")
        // docs: show

        let plan = try Store.pendingMigration(temporary("company.sqlite"), for: Employee.self)
        print(plan.changes.isEmpty ? "nothing to migrate" : "\(plan)")
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CoreData.md", "Documentation/ComingFrom/CoreData.zh-Hans.md")
        // docs: show

        let total = try await store.write { tx in
            let raised = try tx.update(cleo.id) { $0.salary += 1 }
            let dora = try tx.first(Employee.where { $0.name == "Dora" })
            return raised.salary + (dora?.salary ?? 0)
        }
        print(total)
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CoreData.md", "Documentation/ComingFrom/CoreData.zh-Hans.md")
        // docs: show

        print(try await store.rows("SELECT count(*) FROM Employee WHERE salary > \(6000)")[0][0])
        let recorder = StatementRecorder()  // of the product RelataTesting
        let memory = try Store.inMemory(for: Employee.self, options: recorder.options)
        try await recorder.expectQueries(1) { _ = try await memory.fetch(Employee.all) }
        // docs: hide
        try printed(in: "Documentation/ComingFrom/CoreData.md", "Documentation/ComingFrom/CoreData.zh-Hans.md")
        // docs: show

    }
}
