// The library, its log, and the defaults. How it is opened is tested in processes of their own: see LoadTests.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using LlamaSpeculative;

internal static class LibraryTests
{
    private sealed class OnPurpose : Exception
    {
    }

    [Test("the library says what it was built from")]
    private static void BuildInfo()
    {
        BuildDetails details = Library.BuildInfo();
        Expect.Equal(Library.AbiVersion(), details.AbiVersion);
        Expect.That(details.LlamaCommit.Length >= 7, "a commit");
        Expect.That(details.Backends.Contains("CPU"), "a backend");
        Expect.Equal("ERROR_UNSUPPORTED", Library.StatusName(-5));
    }

    [Test("log lines arrive, and an exception among them goes on in the caller")]
    private static void Log()
    {
        var lines = new List<string>();
        Library.LogSet((level, text) =>
        {
            lock (lines)
            {
                lines.Add($"{level}: {text}");
            }
        });
        new Session(SessionTests.Params("none")).Dispose();
        Library.LogSet((level, text) => { throw new OnPurpose(); });
        Expect.Throws<OnPurpose>(() => new Session(SessionTests.Params("none")));
        Library.LogSet(null);
        Expect.That(lines.Any(line => line.Contains("llama")), "lines of llama.cpp");
        new Session(SessionTests.Params("none")).Dispose();
    }

    [Test("the collector moves nothing that C holds")]
    private static void LogUnderPressure()
    {
        int count = 0;
        Library.LogSet((level, text) =>
        {
            GC.Collect();
            count++;
        });
        GC.Collect();
        GC.WaitForPendingFinalizers();
        new Session(SessionTests.Params("none")).Dispose();
        Library.LogSet(null);
        Expect.That(count > 10, "lines");
    }

    [Test("another library cannot take the place of the one that is loaded")]
    private static void LoadedOnce()
    {
        Library.Load();
        Library.Load(Library.Path);
        Expect.Throws<InvalidOperationException>(() => Library.Load("/nowhere/lib.so"));
    }
}
