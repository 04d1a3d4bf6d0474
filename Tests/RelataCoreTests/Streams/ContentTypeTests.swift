import RelataCore
import Testing

@Suite struct ContentTypeTests {
    @Test func contentTypesFollowExtensions() {
        #expect(ContentType.of("a.PNG") == "image/png")
        #expect(ContentType.of("archive.tar.zip") == "application/zip")
        #expect(ContentType.of("notes.txt") == "text/plain; charset=utf-8")
        #expect(ContentType.of("README") == ContentType.unknown)
        #expect(ContentType.of("a.unheard") == ContentType.unknown)
    }

    @Test func contentTypesHaveTheirUsualExtension() {
        let usual = [
            "image/jpeg": "jpg", "image/png": "png", "text/html": "html", "text/javascript": "js",
            "application/json": "json", "text/plain": "txt", "TEXT/CSS ; charset=latin1": "css", "video/mp4": "mp4",
            "audio/mpeg": "mp3", "font/woff2": "woff2",
        ]
        for (type, end) in usual { #expect(ContentType.end(ofType: type) == end) }
        #expect(ContentType.end(ofType: "application/x-unheard") == nil)
    }

    @Test func parametersAreNotPartOfAContentType() {
        #expect(ContentType.bare("text/plain ; charset=utf-8") == "text/plain")
        #expect(ContentType.bare("image/png") == "image/png")
    }

    @Test func compressedFormatsAreNotCompressedAgain() {
        for type in ["text/html; charset=utf-8", "application/json", "image/svg+xml; charset=utf-8", "font/ttf"] {
            #expect(ContentType.isCompressible(type), "\(type)")
        }
        for type in ["image/png", "image/x-icon", "audio/mpeg", "video/mp4", "font/woff2", "application/zip"] {
            #expect(!ContentType.isCompressible(type), "\(type)")
        }
    }
}
