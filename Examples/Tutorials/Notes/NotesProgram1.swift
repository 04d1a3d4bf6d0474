import Foundation
import Relata

@main struct Notes {
    static func main() async throws {
        let notebook = try await Notebook.open()
        print(try await notebook.store.count(Note.all), "notes, files:", try notebook.files())
        try notebook.store.close()
    }
}
