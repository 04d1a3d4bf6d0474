import Relata

@main struct Gallery {
    static func main() async throws {
        let store = try Store.inMemory(for: Artist.self)
        try await fill(store)

        let results = try await store.saveEach([
            Artist(name: "Amara Diallo", country: "Senegal"),
            Artwork(title: "Baobab", year: 2011, artist: ToOne(id: "Amara Diallo")),
            Artwork(title: "The Future", year: 3000, artist: ToOne(id: "Amara Diallo")),
            Comment(text: "Too early to say.", artwork: ToOne(id: "The Future")),
        ])
        for result in results {
            switch result {
            case .success(let object): print("saved", object)
            case .failure(let error): print(error)
            }
        }
        try store.close()
    }

    static func fill(_ store: Store) async throws {
        try await store.save([
            Comment(text: "I could look at it for hours.", artwork: ToOne(id: "Dawn over Suzhou")),
            Artwork(
                title: "Dawn over Suzhou", year: 1998, artist: ToOne(id: "Mei Chen"),
                collection: ToOne(id: "City Museum")),
            Artwork(title: "Paper Lanterns", year: 2004, artist: ToOne(id: "Mei Chen")),
            Artwork(
                title: "Harbour", year: 1987, artist: ToOne(id: "Jonas Berg"), collection: ToOne(id: "City Museum")),
            Collection(name: "City Museum"),
            Artist(name: "Jonas Berg", country: "Norway"),
            Artist(name: "Mei Chen", country: "China"),
        ])
    }
}
