import Relata
import RelataTesting
import Testing

@Suite struct TreeTests {
    let recorder = StatementRecorder()

    /// A root with two children, which have two each, and so on.
    func store(_ engine: Engine, levels: Int) throws -> (Store, root: Folder) {
        let store = try TestStore.make(engine, for: Folder.self, options: recorder.options)
        let root = Folder(name: "root")
        try store.write { tx in
            try tx.insert(root)
            var parents = [root]
            for _ in 0..<levels {
                parents = try tx.insert(
                    parents.flatMap { parent in
                        ["a", "b"].map { Folder(name: parent.name + "/" + $0, parent: ToOne(id: parent.id)) }
                    })
            }
        }
        return (store, root)
    }

    func count(_ folder: Folder) throws -> Int {
        try 1 + folder.children.objects.reduce(0) { try $0 + count($1) }
    }

    @Test(arguments: Engine.allCases) func aWholeTreeIsLoadedWithOneStatementForAllLevels(_ engine: Engine) throws {
        let (store, _) = try store(engine, levels: 5)
        let roots = try recorder.expectQueries(2) {
            try store.fetch(Folder.where { $0.parent == nil }.including { $0.children.recursive() })
        }
        #expect(try count(#require(roots.first)) == 63)
        #expect(try roots[0].children.objects[1].children.objects.map(\.name) == ["root/b/a", "root/b/b"])
    }

    @Test(arguments: Engine.allCases) func objectsBelowTheDepthStayUnloaded(_ engine: Engine) throws {
        let (store, root) = try store(engine, levels: 5)
        let loaded = try recorder.expectQueries(1) { try store.load(root) { $0.children.recursive(depth: 2) } }
        let grandchild = try loaded.children.objects[0].children.objects[0]
        #expect(grandchild.name == "root/a/a")
        #expect(!grandchild.children.isLoaded)
    }

    @Test(arguments: Engine.allCases) func parentsAreFollowedUpToTheRoot(_ engine: Engine) throws {
        let (store, _) = try store(engine, levels: 3)
        let leaf = try #require(
            try store.first(Folder.where { $0.name == "root/a/b/a" }.including { $0.parent.recursive() }))
        let path = sequence(first: leaf) { $0.parent?.loaded }.map(\.name)
        #expect(path == ["root/a/b/a", "root/a/b", "root/a", "root"])
    }

    @Test(arguments: Engine.allCases) func selfAncestorsEndTheTree(_ engine: Engine) throws {
        let (store, root) = try store(engine, levels: 1)
        let child = try #require(try store.first(Folder.where { $0.name == "root/a" }))
        try store.write { tx in _ = try tx.update(root.id) { $0.parent = ToOne(id: child.id) } }
        let loaded = try store.load(root) { $0.children.recursive() }
        let again = try loaded.children.objects[0].children.objects[0]
        #expect(again.id == root.id)
        #expect(!again.children.isLoaded || again.children.loaded?.allSatisfy { !$0.children.isLoaded } == true)
    }

    /// Each of nine who all follow each other is reached in more ways than a list of values should hold.
    @Test(arguments: Engine.allCases) func tooManyPathsToAMemberAreRefused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Person.self)
        let people = try store.insert((1...9).map { Person(name: "\($0)") })
        for person in people {
            try store.update(person.id) { $0.following.add(people.filter { $0.id != person.id }) }
        }
        let error = thrown { try store.load(people[0]) { $0.following.recursive() } }
        #expect(error?.kind == "invalidUse" && "\(error as Any)".contains("Person.following"))
        let near = try store.load(people[0]) { $0.following.recursive(depth: 2) }
        #expect(try near.following.objects.allSatisfy { try $0.following.objects.count == 8 })
        #expect(try store.count(people[0].descendants { $0.following }) == 8)
    }

    @Test(arguments: Engine.allCases) func tooDeepTreesAreRefusedUnlessLimited(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Folder.self)
        var folders = [Folder(name: "0")]
        for number in 1...1500 { folders.append(Folder(name: "\(number)", parent: ToOne(id: folders[number - 1].id))) }
        try store.save(folders)
        #expect(throws: RelataError.self) { try store.load(folders[0]) { $0.children.recursive() } }
        let loaded = try store.load(folders[0]) { $0.children.recursive(depth: 100) }
        #expect(try loaded.children.objects[0].children.objects.count == 1)
    }
}
