// Sessions: streaming, cancelling, callbacks, exceptions, and what remains when they are gone.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using LlamaSpeculative;

internal static class SessionTests
{
    private sealed class OnPurpose : Exception
    {
    }

    private static readonly int[] Prompt = Oracle.PromptAndAnswer(24, 0).Prompt;

    internal static SessionParams Params(string strategies)
    {
        return new SessionParams
        {
            Model = Oracle.Model("target-llama"),
            Speculative = new Params { Strategies = strategies, NDraftMax = 8 },
            NCtx = 256,
            NBatch = 64,
            NUbatch = 64,
            NThreads = 1,
        };
    }

    private static SessionParams Drafting()
    {
        SessionParams drafting = Params("draft-simple");
        drafting.ModelDraft = Oracle.Model("draft-llama");
        return drafting;
    }

    private static GenParams Limit(int n)
    {
        return new GenParams { NPredict = n };
    }

    private static string Text(Session session, int[] prompt, GenParams parameters)
    {
        return string.Concat(session.Generate(prompt, parameters).Select(piece => piece.Text));
    }

    private static int Tokens(IEnumerable<Piece> pieces)
    {
        return pieces.Sum(piece => piece.NTokens);
    }

    [Test("pieces are the target's text with its accepted tokens marked")]
    private static void PiecesAreMarked()
    {
        var (prompt, answer) = Oracle.PromptAndAnswer(24, 64);
        using (var session = new Session(Drafting()))
        using (var plain = new Session(Params("none")))
        {
            string expected = Text(plain, prompt, Limit(64));
            Expect.Equal(expected, Text(session, prompt, Limit(64)));
            Expect.Equal(answer, session.Tokenize(expected, addSpecial: false, parseSpecial: false));
            var pieces = session.Generate(prompt, new GenParams { NPredict = 64, ReusePrefix = false }).ToList();
            GenResult result = session.Result();
            Expect.Equal(result.NAccepted, (ulong)pieces.Sum(piece => piece.NTokensDraft));
            Expect.Equal(64, result.NEmitted);
            Expect.That(result.NAccepted > 0 && result.NAccepted < result.NDrafted, "some accepted, some not");
            Expect.Equal((double)result.NAccepted / result.NDrafted, result.AcceptanceRate);
        }
    }

    [Test("the first piece is there before the second is decoded")]
    private static void Streams()
    {
        using (var session = new Session(Params("none")))
        {
            Expect.Equal(1, session.Generate(Prompt, Limit(64)).First().NTokens);
            Expect.Equal(1ul, session.Spec.Stats(0).NRounds);
            Expect.Equal(3, session.Generate(Prompt, Limit(64)).Take(3).Count());
            Expect.Equal(4ul, session.Spec.Stats(0).NRounds);
        }
    }

    [Test("a session goes on after an answer that was left early, whose pieces are gone")]
    private static void LeftEarly()
    {
        var (prompt, answer) = Oracle.PromptAndAnswer(24, 32);
        using (var session = new Session(Drafting()))
        {
            Pieces left = session.Generate(prompt, Limit(200));
            Expect.Equal(2, left.Take(2).Count());
            string text = Text(session, prompt, Limit(32));
            Expect.Equal(answer, session.Tokenize(text, addSpecial: false, parseSpecial: false));
            Expect.Equal(Finish.Limit, session.Result().Finish);
            Expect.Equal(23, session.Result().NReused); // all that was evaluated of the prompt
            Expect.Throws<InvalidOperationException>(() => left.Count());
        }
    }

    [Test("cancel from another thread ends the answer and the next one is whole")]
    private static void Cancel()
    {
        using (var session = new Session(Drafting()))
        {
            Pieces pieces = session.Generate(Prompt, Limit(200));
            pieces.First();
            var other = new Thread(session.Cancel);
            other.Start();
            other.Join();
            Expect.That(Tokens(pieces) < 9, "no more tokens than were ready");
            Expect.Equal(Outcome.Cancelled, pieces.Outcome);
            Expect.Equal(Finish.Cancelled, session.Result().Finish);
            Expect.Equal(20, Tokens(session.Generate(Prompt, Limit(20))));
        }
    }

    [Test("a cancelled token ends the answer with an exception and does not reach the next one")]
    private static void CancelledToken()
    {
        using (var session = new Session(Drafting()))
        using (var source = new CancellationTokenSource())
        {
            int count = 0;
            Expect.Throws<OperationCanceledException>(() =>
            {
                foreach (Piece piece in session.Generate(Prompt, Limit(200), source.Token))
                {
                    count += piece.NTokens;
                    source.Cancel();
                }
            });
            Expect.That(count > 0 && count < 18, "it ended at once");
            Expect.Throws<OperationCanceledException>(() => session.Generate(Prompt, Limit(4), source.Token));
            Expect.Equal(20, Tokens(session.Generate(Prompt, Limit(20))));
        }
    }

    [Test("a token that is cancelled within an evaluation cancels it, and within a piece that was ready does no harm later")]
    private static void CancelledInside()
    {
        for (int round = 0; round < 30; round++)
        {
            using (var session = new Session(Drafting()))
            using (var source = new CancellationTokenSource())
            {
                var other = new Thread(source.Cancel);
                other.Start();
                try
                {
                    Tokens(session.Generate(Prompt, Limit(200), source.Token));
                    Expect.That(source.IsCancellationRequested, "the answer is over or cancelled");
                }
                catch (OperationCanceledException)
                {
                }
                other.Join();
                Expect.Equal(20, Tokens(session.Generate(Prompt, Limit(20))));
            }
        }
    }

    [Test("a disposed session is an exception in all its parts, and disposing it again is none")]
    private static void Disposed()
    {
        var session = new Session(Drafting());
        Spec spec = session.Spec;
        Handles handles = session.Handles();
        Pieces pieces = session.Generate(Prompt, Limit(20));
        session.Dispose();
        session.Dispose();
        Expect.Equal("Session", Expect.Throws<ObjectDisposedException>(() => session.Result()).ObjectName);
        Expect.Throws<ObjectDisposedException>(session.Cancel);
        Expect.Throws<ObjectDisposedException>(() => spec.Stats(0));
        Expect.Throws<ObjectDisposedException>(() => Library.HiddenRow(handles.CtxTgt, 0));
        Expect.Throws<ObjectDisposedException>(() => pieces.First());
    }

    [Test("a session that is disposed inside of its own callback ends after the call")]
    private static void DisposedInside()
    {
        var session = new Session(Params("none"));
        int count = 0;
        session.Generate(Prompt, Limit(5), piece =>
        {
            count++;
            session.Dispose();
            return true;
        });
        Expect.Equal(5, count);
        Expect.Throws<ObjectDisposedException>(() => session.Result());
    }

    [Test("other threads may cancel while the session is disposed")]
    private static void CancelsWhileDisposing()
    {
        for (int i = 0; i < 20; i++)
        {
            var session = new Session(Params("none"));
            var threads = Enumerable.Range(0, 2).Select(_ => new Thread(() =>
            {
                try
                {
                    for (int j = 0; j < 2000; j++)
                    {
                        session.Cancel();
                    }
                }
                catch (ObjectDisposedException)
                {
                }
            })).ToList();
            threads.ForEach(thread => thread.Start());
            Tokens(session.Generate(Prompt, Limit(8))); // whatever the cancels hit, nothing else may go wrong
            session.Dispose();
            threads.ForEach(thread => thread.Join());
        }
    }

    [Test("a callback gets the pieces and may break off")]
    private static void Callback()
    {
        using (var session = new Session(Params("none")))
        {
            int count = 0;
            GenResult broken = session.Generate(Prompt, Limit(64), piece => (count += piece.NTokens) < 5);
            Expect.Equal((Finish.Cancelled, 5), (broken.Finish, count));
            GenResult whole = session.Generate(Prompt, Limit(64), piece => true);
            Expect.Equal((Finish.Limit, 64), (whole.Finish, whole.NEmitted));
        }
    }

    [Test("an exception in a callback arrives at the caller and the session is intact")]
    private static void CallbackThrows()
    {
        using (var session = new Session(Drafting()))
        {
            Expect.Throws<OnPurpose>(() => session.Generate(Prompt, Limit(64), piece => { throw new OnPurpose(); }));
            Expect.Equal(20, Tokens(session.Generate(Prompt, Limit(20))));
        }
    }

    [Test("progress is reported and may stop the opening")]
    private static void Progress()
    {
        var seen = new List<float>();
        SessionParams parameters = Params("none");
        parameters.Progress = fraction =>
        {
            seen.Add(fraction);
            return true;
        };
        new Session(parameters).Dispose();
        Expect.That(seen.Count > 0 && seen.All(it => it >= 0 && it <= 1), "fractions");
        parameters.Progress = fraction => false;
        Expect.Throws<OperationCanceledException>(() => new Session(parameters));
        parameters.Progress = fraction => { throw new OnPurpose(); };
        Expect.Throws<OnPurpose>(() => new Session(parameters));
    }

    [Test("each refusal has its own exception with status and message")]
    private static void Refusals()
    {
        SessionParams vocabulary = Params("draft-simple");
        vocabulary.ModelDraft = Oracle.Model("draft-llama-bigvocab");
        Expect.That(Expect.Throws<UnsupportedException>(() => new Session(vocabulary)).Message.Contains("vocabulary"), "the reason");
        SessionParams missing = Params("none");
        missing.Model = "nowhere";
        Expect.Equal(-7, Expect.Throws<ModelException>(() => new Session(missing)).Status);
        Expect.Throws<InvalidArgumentException>(() => new Session(Params("draft-simpel")));
        SessionParams grammar = Params("none");
        grammar.Grammar = "root ::= (";
        Expect.Throws<SamplerException>(() => new Session(grammar));
        SessionParams nul = Params("none");
        nul.Device = "a\0b";
        Expect.That(Expect.Throws<ArgumentException>(() => new Session(nul)).Message.StartsWith("device holds a NUL"), "the name");
        Expect.Throws<ArgumentNullException>(() => new Session(null));
        using (var session = new Session(Params("none")))
        {
            var early = Expect.Throws<CallOrderException>(() => session.Result());
            Expect.Equal(("session_result", -3), (early.Function, early.Status));
            Expect.That(early.Message.Contains("session_start"), "what to call");
            var messages = new[] { new ChatMessage { Role = "user", Content = "hello" } };
            Expect.Throws<UnsupportedException>(() => session.ApplyChat(messages));
        }
    }

    [Test("an exception says which sequence it left and how")]
    private static void SequenceState()
    {
        using (var session = new Session(Params("none")))
        {
            var wrong = Expect.Throws<InvalidArgumentException>(() => session.Generate(new[] { 10, 1000000 }, Limit(4)));
            Expect.Equal((0, SeqState.NeedsBegin), (wrong.Sequence.Value, wrong.SequenceState.Value));
            Text(session, Prompt, Limit(4));
            var early = Expect.Throws<CallOrderException>(() => session.Spec.Commit(0, 1));
            Expect.Equal((0, SeqState.Ready), (early.Sequence.Value, early.SequenceState.Value));
        }
    }

    [Test("stop strings and seeds go through")]
    private static void StopsAndSeeds()
    {
        using (var session = new Session(Drafting()))
        {
            string whole = Text(session, Prompt, Limit(30));
            string stop = whole.Substring(9, 3);
            string cut = Text(session, Prompt, new GenParams { NPredict = 30, Stops = new[] { "never", stop } });
            Expect.That(whole.StartsWith(cut + stop, StringComparison.Ordinal), "the text before the stop string");
            Expect.Equal((Finish.Stop, 1), (session.Result().Finish, session.Result().StopIndex));
        }
        Expect.Equal(Soft(1), Soft(1));
        Expect.That(Soft(1) != Soft(2), "another seed, another text");
    }

    private static string Soft(uint seed)
    {
        SessionParams parameters = Params("none");
        parameters.Model = Oracle.Model("target-llama-soft");
        parameters.Temperature = 2;
        parameters.TopK = 0;
        parameters.Seed = seed;
        using (var session = new Session(parameters))
        {
            return Text(session, Prompt, Limit(40));
        }
    }

    [Test("sessions on two threads do not meet")]
    private static void TwoThreads()
    {
        var (prompt, answer) = Oracle.PromptAndAnswer(24, 64);
        var wrong = new List<string>();
        var threads = Enumerable.Range(0, 2).Select(_ => new Thread(() =>
        {
            try
            {
                for (int i = 0; i < 5; i++)
                {
                    using (var session = new Session(Drafting()))
                    {
                        Expect.Equal(answer, session.Tokenize(Text(session, prompt, Limit(64)), false, false));
                    }
                }
            }
            catch (Exception exception)
            {
                lock (wrong)
                {
                    wrong.Add(exception.ToString());
                }
            }
        })).ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        Expect.Equal("", string.Join("\n", wrong));
    }

    [Test("the garbage collector ends what was not disposed, and nothing that is in use")]
    private static void Garbage()
    {
        int pieces = 0;
        for (int i = 0; i < 50; i++)
        {
            SessionParams parameters = Drafting();
            parameters.NCtx = 64;
            parameters.Progress = fraction =>
            {
                GC.Collect();
                return true;
            };
            foreach (Piece piece in new Session(parameters).Generate(Oracle.Along(10, 4), Limit(8)))
            {
                pieces += piece.NTokens;
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
        }
        Expect.Equal(400, pieces);
    }

    [Test("a thousand sessions leave no memory behind")]
    private static void NoGrowth()
    {
        SessionParams parameters = Drafting();
        parameters.NCtx = 32;
        parameters.NBatch = 16;
        parameters.NUbatch = 16;
        int[] prompt = Oracle.Along(10, 4);
        Action<int> cycles = n =>
        {
            for (int i = 0; i < n; i++)
            {
                using (var session = new Session(parameters))
                {
                    Tokens(session.Generate(prompt, Limit(4)));
                }
            }
            GC.Collect();
            GC.WaitForPendingFinalizers();
        };
        cycles(300);
        long before = ResidentPages();
        cycles(1000);
        long grown = ResidentPages() - before;
        Expect.That(grown < 2048, $"{grown} pages more after 1000 sessions"); // a session leaked is more than 20 pages
    }

    private static long ResidentPages()
    {
        return long.Parse(File.ReadAllText("/proc/self/statm").Split(' ')[1]);
    }
}
