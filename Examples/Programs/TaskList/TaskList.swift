// A list of things to do, on the command line:
//
//     swift run TaskList add "Buy milk" home
//     swift run TaskList done 1
//     swift run TaskList list
//     swift run TaskList drop home
import Relata

@Model struct Project {
    @Attribute(.primaryKey, .notEmpty) let name: String
    @Relationship(deleteRule: .cascade, inverse: \Item.project) var items: ToMany<Item>
}

@Model struct Item {
    var id: Int?
    @Attribute(.notEmpty) var title: String
    var isDone: Bool = false
    var project: ToOne<Project>
}

@main struct TaskList {
    static func main() async throws {
        let store = try await Store.open("tasks.sqlite", for: Item.self)
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            switch (words.first, words.count) {
            case ("add", 3):
                // A project that is there already stays; a new one is saved with the item.
                let item = try await store.save(Item(title: words[1], project: Project(name: words[2])))
                print("added \(item.id ?? 0)")
            case ("done", 2):
                try await store.update(Item.self, id: Int(words[1])) { $0.isDone = true }
            case ("list", 1):
                let projects = Project.sorted { $0.name }.including { $0.items.sorted { $0.id } }
                for project in try await store.fetch(projects) {
                    print(project.name)
                    for item in try project.items.objects {
                        print("  \(item.id ?? 0) \(item.isDone ? "✓" : "·") \(item.title)")
                    }
                }
            case ("drop", 2):
                print(try await store.delete(Project.self, id: words[1]))
            default:
                print("TaskList add TITLE PROJECT | done NUMBER | list | drop PROJECT")
            }
        } catch let error as RelataError {
            print(error)
        }
    }
}
