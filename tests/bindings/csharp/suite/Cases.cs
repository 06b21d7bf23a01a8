// Runs the shared cases: reads them from standard input and writes what it saw, see tests/cases/README.md.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;
using LlamaSpeculative;

internal sealed class Cases
{
    private string name;
    private string layer;
    private string target;
    private string draft;
    private bool loadMtp;
    private int sequences;
    private readonly Dictionary<string, int> context = new Dictionary<string, int>();
    private readonly Params parameters = new Params();
    private int nPredict;
    private readonly List<string> stops = new List<string>();
    private int[] prompt;

    internal static int Run()
    {
        var now = new Cases();
        for (string line = Console.ReadLine(); line != null; line = Console.ReadLine())
        {
            if (!now.Take(line))
            {
                continue;
            }
            Console.WriteLine($"case {now.name} {now.layer}");
            try
            {
                Console.WriteLine(string.Join("\n", now.RunLayer()));
            }
            catch (SpeculativeException exception)
            {
                Console.WriteLine($"error {Library.StatusName(exception.Status)} {exception.Message}");
            }
            Console.WriteLine("end");
            now = new Cases();
        }
        return 0;
    }

    /// <summary>Takes one line; true at the end of the case.</summary>
    private bool Take(string line)
    {
        string[] words = line.Split(' ');
        string rest = line.Substring(Math.Min(line.Length, words[0].Length + 1));
        switch (words[0])
        {
            case "case":
                name = words[1];
                layer = words[2];
                break;
            case "target":
                target = rest;
                break;
            case "draft":
                draft = rest;
                break;
            case "load_mtp":
                loadMtp = rest == "1";
                break;
            case "sequences":
                sequences = int.Parse(rest);
                break;
            case "context":
                context[words[1]] = int.Parse(words[2]);
                break;
            case "params":
                SetParam(words[1], words[2]);
                break;
            case "n_predict":
                nPredict = int.Parse(rest);
                break;
            case "stop":
                stops.Add(Encoding.UTF8.GetString(Enumerable.Range(0, rest.Length / 2)
                    .Select(i => Convert.ToByte(rest.Substring(2 * i, 2), 16)).ToArray()));
                break;
            case "prompt":
                prompt = words.Skip(1).Select(int.Parse).ToArray();
                break;
            case "end":
                return true;
            default:
                throw new Exception($"{name}: this runner does not know {words[0]}");
        }
        return false;
    }

    private void SetParam(string key, string value)
    {
        string property = string.Concat(key.Split('_').Select(word => char.ToUpperInvariant(word[0]) + word.Substring(1)));
        var info = typeof(Params).GetProperty(property) ?? throw new Exception($"{name}: there is no params {key}");
        info.SetValue(parameters, Convert.ChangeType(value, info.PropertyType, CultureInfo.InvariantCulture));
    }

    private IEnumerable<string> RunLayer()
    {
        switch (layer)
        {
            case "session":
                return OnSession();
            case "loop":
                return OnContexts(Rounds);
            case "primitives":
                return OnContexts(Primitives);
            default:
                throw new Exception($"{name}: this runner does not know the layer {layer}");
        }
    }

    private List<string> OnSession()
    {
        var opening = new SessionParams
        {
            Model = target,
            ModelDraft = draft,
            NCtx = context["n_ctx"],
            NBatch = context["n_batch"],
            NUbatch = context["n_ubatch"],
            NSeqMax = sequences,
            NThreads = 1,
            Speculative = parameters,
        };
        using (var session = new Session(opening))
        {
            var watch = System.Diagnostics.Stopwatch.StartNew();
            string text = string.Concat(
                session.Generate(prompt, new GenParams { NPredict = nPredict, Stops = stops }).Select(piece => piece.Text));
            string seconds = watch.Elapsed.TotalSeconds.ToString("F6", CultureInfo.InvariantCulture);
            GenResult result = session.Result();
            return new List<string>
            {
                "text " + string.Concat(Encoding.UTF8.GetBytes(text).Select(b => b.ToString("x2"))),
                $"seconds {seconds}",
                $"drafted 0 {result.NDrafted}",
                $"accepted 0 {result.NAccepted}",
                $"finish 0 {SpecName(result.Finish)}",
            };
        }
    }

    /// <summary>Contexts of the user's own, and a spec on them.</summary>
    private List<string> OnContexts(Func<Context, Spec, List<string>> body)
    {
        using (var model = new Model(target, loadMtp))
        using (var draftModel = draft == null ? null : new Model(draft))
        {
            LlamaModel lentDraft = draftModel?.Lent;
            Needs needs = Library.Requirements(model.Lent, lentDraft, parameters);
            int nCtx = context["n_ctx"] * sequences;
            using (var ours = new Context(model, nCtx, context["n_batch"], context["n_ubatch"], sequences, needs.NRsSeq))
            using (OwnedLlamaContext made = Library.DraftContextInit(ours.Lent, lentDraft, parameters))
            using (var spec = new Spec(ours.Lent, made?.Get(), parameters))
            {
                return body(ours, spec);
            }
        }
    }

    private List<string> Rounds(Context ours, Spec spec)
    {
        var emitted = new List<List<int>>();
        for (int seq = 0; seq < sequences; seq++)
        {
            spec.SeqSetLimits(seq, -1, nPredict);
            spec.Decode(new Batch { Token = prompt, SeqId = Enumerable.Repeat(seq, prompt.Length).ToArray() });
            emitted.Add(new List<int>());
        }
        while (spec.Decode() == Outcome.Done)
        {
            for (int seq = 0; seq < sequences; seq++)
            {
                emitted[seq].AddRange(spec.AcceptedTokens(seq));
            }
        }
        var lines = new List<string>();
        for (int seq = 0; seq < sequences; seq++)
        {
            Counters stats = spec.Stats(seq);
            lines.Add($"tokens {seq} {string.Join(" ", emitted[seq])}");
            lines.Add($"drafted {seq} {stats.NDrafted}");
            lines.Add($"accepted {seq} {stats.NAccepted}");
            lines.Add($"finish {seq} {SpecName(spec.SeqInfo(seq).Finish)}");
        }
        return lines;
    }

    private List<string> Primitives(Context ours, Spec spec)
    {
        int[] evaluated = prompt.Take(prompt.Length - 1).ToArray();
        // the target evaluates all but the last token, in chunks that the strategies are shown
        int pos0 = 0;
        while (pos0 < evaluated.Length)
        {
            pos0 = DecodeAndShow(ours, spec, evaluated.Skip(pos0).Take(context["n_batch"]).ToArray(), pos0);
        }
        spec.Begin(0, evaluated);
        int last = prompt[prompt.Length - 1], drafted = 0, accepted = 0;
        var emitted = new List<int>();
        while (emitted.Count < nPredict)
        {
            spec.DraftRequest(0, pos0, last, nPredict - emitted.Count - 1);
            spec.Draft();
            int[] tokens = spec.DraftTokens(0);
            DecodeAndShow(ours, spec, new[] { last }.Concat(tokens).ToArray(), pos0);
            int agreed = 0;
            while (agreed < tokens.Length && ours.Greedy(agreed) == tokens[agreed])
            {
                agreed++;
            }
            last = ours.Greedy(agreed);
            emitted.AddRange(tokens.Take(agreed));
            emitted.Add(last);
            spec.Accept(0, agreed);
            pos0 += 1 + agreed;
            ours.RemoveFrom(pos0);
            drafted += tokens.Length;
            accepted += agreed;
        }
        return new List<string> { $"tokens 0 {string.Join(" ", emitted)}", $"drafted 0 {drafted}", $"accepted 0 {accepted}" };
    }

    /// <summary>Evaluates tokens, shows them to the strategies, and returns the position behind them.</summary>
    private static int DecodeAndShow(Context ours, Spec spec, int[] tokens, int pos0)
    {
        ours.Decode(tokens, pos0);
        spec.Process(new Batch
        {
            Token = tokens,
            Pos = Enumerable.Range(pos0, tokens.Length).ToArray(),
            Output = tokens.Select(_ => (sbyte)1).ToArray(),
        });
        return pos0 + tokens.Length;
    }

    /// <summary>ContextFull to CONTEXT_FULL: the name of an enum value in the spec.</summary>
    private static string SpecName(object value)
    {
        string text = value.ToString();
        return string.Concat(text.Select((letter, i) => (i > 0 && char.IsUpper(letter) ? "_" : "") + char.ToUpperInvariant(letter)));
    }
}
