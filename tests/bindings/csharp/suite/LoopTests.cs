// The loop and the primitives on contexts that the user made, given by pointer and by safe handle.
using System;
using System.Collections.Generic;
using System.Linq;
using LlamaSpeculative;

internal static class LoopTests
{
    private static readonly Params Drafting = new Params { Strategies = "draft-simple", NDraftMax = 8 };

    /// <summary>A spec on contexts of the user's own, which nothing but the spec keeps alive.</summary>
    private static Spec Make(int nCtx = 512, int nSeqMax = 1)
    {
        using (var draft = new Model(Oracle.Model("draft-llama")))
        using (var model = new Model(Oracle.Model("target-llama")))
        using (var context = new Context(model, nCtx, nSeqMax: nSeqMax))
        using (OwnedLlamaContext made = Library.DraftContextInit(context.Lent, draft.Lent, Drafting))
        {
            return new Spec(context.Lent, made.Get(), Drafting);
        }
    }

    private static int[] Rounds(Spec spec, int n)
    {
        var emitted = new List<int>();
        spec.SeqSetLimits(0, -1, n);
        while (spec.Decode() == Outcome.Done)
        {
            emitted.AddRange(spec.AcceptedTokens(0));
        }
        return emitted.ToArray();
    }

    [Test("requirements say what the contexts must be like")]
    private static void Requirements()
    {
        using (var draft = new Model(Oracle.Model("draft-llama")))
        using (var target = new Model(Oracle.Model("target-llama")))
        using (var hybrid = new Model(Oracle.Model("hybrid-qwen35")))
        {
            Needs needs = Library.Requirements(target.Lent, draft.Lent, Drafting);
            Expect.That(needs.NeedsDraftModel && needs.NeedsDraftContext && !needs.LoadMtp, "a draft model and context");
            Expect.Equal((Rollback.Remove, 8), (needs.Rollback, needs.NDraftMax));
            needs = Library.Requirements(hybrid.Lent, draft.Lent, Drafting);
            Expect.Equal((Rollback.Snapshots, 8), (needs.Rollback, needs.NRsSeq));
        }
    }

    [Test("a part of a round is kept and the rest taken back everywhere")]
    private static void Commit()
    {
        var (prompt, answer) = Oracle.PromptAndAnswer(24, 80);
        using (Spec spec = Make())
        {
            spec.Decode(new Batch { Token = prompt });
            var emitted = new List<int>();
            foreach (int keep in new[] { 1, 2, 3 })
            {
                int[] tokens;
                do
                {
                    Expect.Equal(Outcome.Done, spec.Decode());
                    tokens = spec.AcceptedTokens(0);
                    emitted.AddRange(tokens.Take(keep));
                    spec.Commit(0, Math.Min(keep, tokens.Length));
                }
                while (tokens.Length > keep);
            }
            emitted.AddRange(Rounds(spec, 80 - emitted.Count));
            Expect.Equal(answer, emitted.ToArray());
        }
    }

    [Test("a shared prefix is kept and a copy goes on by itself")]
    private static void Truncate()
    {
        var (prompt, answer) = Oracle.PromptAndAnswer(24, 40);
        using (Spec spec = Make(1024, 2))
        {
            spec.Decode(new Batch { Token = prompt });
            Expect.Equal(answer, Rounds(spec, 40));
            spec.SeqTruncate(0, 24);
            Expect.Equal(24, spec.SeqInfo(0).NTokens);
            spec.SeqCopy(0, 1);
            Expect.Equal(24, spec.SeqInfo(1).NTokens);
            spec.SeqSetLimits(1, -1, 0);
            Expect.Equal(answer, Rounds(spec, 40));
            spec.SeqClear(Library.SeqAll);
            Expect.Equal(SeqState.NeedsBegin, spec.SeqInfo(1).State);
        }
    }

    [Test("a saved state goes on in another spec and a damaged one is refused")]
    private static void State()
    {
        var (prompt, answer) = Oracle.PromptAndAnswer(24, 60);
        using (Spec first = Make())
        using (Spec second = Make())
        {
            first.Decode(new Batch { Token = prompt });
            int[] emitted = Rounds(first, 30);
            byte[] saved = first.StateSave(0);
            var cut = Expect.Throws<StateException>(() => second.StateLoad(0, saved.Take(saved.Length / 2).ToArray()));
            Expect.Equal(SeqState.NeedsBegin, cut.SequenceState.Value);
            Expect.Equal(Outcome.Done, second.StateLoad(0, saved));
            Expect.Equal(answer, emitted.Concat(Rounds(second, 30)).ToArray());
        }
    }

    [Test("an open round is an exception of its own")]
    private static void OpenRound()
    {
        using (Spec spec = Make())
        {
            spec.Decode(new Batch { Token = Oracle.Along(10, 24) });
            spec.Decode();
            Expect.Throws<RoundOpenException>(() => spec.StateSave(0));
            Expect.Throws<RoundOpenException>(() => spec.SeqTruncate(0, 3));
            spec.Commit(0, 1);
            Expect.That(spec.StateSave(0).Length > 64, "a state");
        }
    }

    [Test("logits of an accepted token choose it")]
    private static void Logits()
    {
        using (Spec spec = Make())
        {
            spec.Decode(new Batch { Token = Oracle.Along(10, 24) });
            spec.Decode();
            int[] tokens = spec.AcceptedTokens(0);
            Expect.That(tokens.Length > 1, "an accepted draft");
            for (int i = 0; i < tokens.Length; i++)
            {
                float[] logits = spec.Logits(0, i);
                Expect.Equal(tokens[i], Array.IndexOf(logits, logits.Max()));
            }
            Expect.Throws<InvalidArgumentException>(() => spec.Logits(0, 99));
        }
    }

    [Test("a second spec on one target is refused while the first lives")]
    private static void SecondSpec()
    {
        using (var model = new Model(Oracle.Model("target-llama")))
        using (var context = new Context(model))
        {
            var first = new Spec(context.Lent, null, new Params());
            Expect.That(Expect.Throws<BusyException>(() => new Spec(context.Lent, null, new Params())).Message.Length > 0, "why");
            first.Dispose();
            new Spec(context.Lent, null, new Params()).Dispose();
        }
    }

    [Test("contexts live for as long as what is made on them, whatever is disposed first")]
    private static void Order()
    {
        int alive = Context.Alive;
        var (prompt, answer) = Oracle.PromptAndAnswer(24, 20);
        Spec spec = Make(); // every context is disposed already
        Expect.Equal(alive + 1, Context.Alive);
        spec.Decode(new Batch { Token = prompt });
        Expect.Equal(answer, Rounds(spec, 20));
        spec.Dispose();
        Expect.Equal(alive, Context.Alive);
        using (var model = new Model(Oracle.Model("target-llama")))
        {
            var context = new Context(model);
            LlamaContext lent = context.Lent;
            context.Dispose();
            Expect.Throws<ObjectDisposedException>(() => new Spec(lent, null, new Params()));
        }
    }

    [Test("the garbage collector ends a spec before its contexts")]
    private static void Garbage()
    {
        int alive = Context.Alive;
        for (int i = 0; i < 20; i++)
        {
            LeaveSpec();
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        for (int i = 0; i < 10 && Context.Alive > alive + 1; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        // a conservative collector may take the last one for used
        Expect.That(Context.Alive <= alive + 1, $"{Context.Alive - alive} contexts are left");
    }

    private static void LeaveSpec()
    {
        Make().Decode(new Batch { Token = Oracle.Along(10, 4) });
    }

    [Test("arrays of a batch must be of one length")]
    private static void Lengths()
    {
        using (Spec spec = Make())
        {
            var batch = new Batch { Token = new[] { 10, 11 }, SeqId = new[] { 0 } };
            Expect.Equal("seq_id has 1 elements, but token has 2", Expect.Throws<ArgumentException>(() => spec.Decode(batch)).Message);
        }
    }

    [Test("a sampler that throws is an exception and greedy goes on")]
    private static void Sampler()
    {
        var (prompt, answer) = Oracle.PromptAndAnswer(24, 20);
        IntPtr chain = Helper.Chain();
        Helper.AddRogue(chain, 3, 1);
        using (Spec spec = Make())
        {
            spec.SeqSetSampler(0, new LlamaSampler(chain));
            spec.Decode(new Batch { Token = prompt });
            var thrown = Expect.Throws<SamplerException>(() =>
            {
                while (spec.Decode() == Outcome.Done)
                {
                }
            });
            Expect.That(thrown.Message.Contains("the sampler threw on purpose"), "its text");
            spec.SeqSetSampler(0);
            spec.SeqClear(0);
            spec.Decode(new Batch { Token = prompt });
            Expect.Equal(answer, Rounds(spec, 20));
        }
    }

    [Test("cancel is seen by the next decode")]
    private static void Cancel()
    {
        var (prompt, answer) = Oracle.PromptAndAnswer(24, 20);
        using (Spec spec = Make())
        {
            spec.Decode(new Batch { Token = prompt });
            spec.Cancel();
            Expect.Equal(Outcome.Cancelled, spec.Decode());
            Expect.Equal(answer, Rounds(spec, 20));
        }
    }

    [Test("hidden rows have C names")]
    private static void HiddenRows()
    {
        using (var model = new Model(Oracle.Model("mtp-mimo2-1"), true))
        using (var context = new Context(model))
        {
            Expect.Throws<CallOrderException>(() => Library.HiddenRow(context.Lent, 0));
            Library.HiddenEnable(context.Lent, HiddenMode.All);
            context.Decode(new[] { 10, 11, 12 }, 0);
            float[] row = Library.HiddenRow(context.Lent, 2);
            Expect.That(row.Length >= 64 && row.Any(value => value != 0), "a row");
        }
    }

    [Test("counters add up by strategy")]
    private static void CountersAddUp()
    {
        using (Spec spec = Make())
        {
            spec.Decode(new Batch { Token = Oracle.Along(10, 24) });
            Expect.Equal(64, Rounds(spec, 64).Length);
            Counters all = spec.Stats(Library.SeqAll);
            Counters own = spec.Stats(0, "draft-simple");
            Expect.Equal((64ul, own.NAccepted), (all.NEmitted, all.NAccepted));
            Expect.Equal((double)all.NAccepted / all.NDrafted, all.AcceptanceRate);
            Expect.Throws<InvalidArgumentException>(() => spec.Stats(0, "draft-simpel"));
            spec.StatsReset();
            Expect.Equal(0.0, spec.Stats(Library.SeqAll).AcceptanceRate);
        }
    }
}
