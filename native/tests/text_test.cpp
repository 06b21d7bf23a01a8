// Whole characters and stop strings, fed in every possible cut.
#include "text.h"

#include <cstdio>
#include <string>
#include <vector>

static int failures = 0;

static void check(const std::string & what, const std::string & got, const std::string & want) {
    if (got != want) {
        std::fprintf(stderr, "%s: got '%s', want '%s'\n", what.c_str(), got.c_str(), want.c_str());
        ++failures;
    }
}

// `bytes` cut in two at every place gives the same characters.
static void characters(const std::string & what, const std::string & bytes, const std::string & want) {
    for (size_t cut = 0; cut <= bytes.size(); ++cut) {
        spb::utf8_assembler utf8;
        std::string         got = utf8.feed(bytes.data(), cut);
        got += utf8.feed(bytes.data() + cut, bytes.size() - cut);
        got += utf8.finish();
        check(what + ", cut at " + std::to_string(cut), got, want);
    }
}

// `text` in parts of `n` bytes: what comes out, and which stop string is found.
static void stops(const std::string & what, const std::vector<std::string> & strings, const std::string & text, const std::string & want, int found) {
    for (size_t n = 1; n <= text.size(); ++n) {
        spb::stop_matcher matcher(strings);
        std::string       got;
        for (size_t at = 0; at < text.size(); at += n) {
            got += matcher.feed(text.substr(at, n));
        }
        if (matcher.found() < 0) {
            got += matcher.finish();
        }
        check(what + ", parts of " + std::to_string(n), got, want);
        check(what + ", index", std::to_string(matcher.found()), std::to_string(found));
    }
}

int main() {
    characters("ascii", "plain", "plain");
    characters("two to four bytes", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    characters("a lone continuation", "a\x80z", "a\xEF\xBF\xBDz");
    characters("an overlong form", "\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD");
    characters("a surrogate", "\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    characters("beyond the last character", "\xF5\x80", "\xEF\xBF\xBD\xEF\xBF\xBD");
    characters("a character cut by another", "\xE2\x82z", "\xEF\xBF\xBDz");
    characters("a character cut by the end", "ok\xE2\x82", "ok\xEF\xBF\xBD");

    stops("none given", {}, "abc", "abc", -1);
    stops("not there", {"xyz"}, "abxyab", "abxyab", -1);
    stops("in the middle", {"stop"}, "go on stop here", "go on ", 0);
    stops("at the start: equal to the whole answer", {"all"}, "all", "", 0);
    stops("the earlier one wins", {"de", "bc"}, "abcde", "a", 1);
    stops("the same place: the first one given", {"ab", "abc"}, "xabc", "x", 0);
    stops("one overlaps itself", {"aab"}, "aaab!", "a", 0);
    stops("a beginning that comes to nothing", {"\n\n"}, "a\nb\n", "a\nb\n", -1);
    stops("a character of several bytes", {"\xE2\x82\xAC"}, "1\xE2\x82\xAC", "1", 0);

    spb::stop_matcher held({"END"});
    check("what may be a stop string is held back", held.feed("the E"), "the ");
    check("until it is not", held.feed("x"), "Ex");

    std::printf("%s\n", failures ? "failed" : "ok");
    return failures ? 1 : 0;
}
