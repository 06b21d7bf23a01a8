// What the tests and the runner share: the oracle models, and llama.cpp through the test helper.
//
// The helper stands for whatever binding of llama.cpp a user has: it makes models and contexts of its own, and this suite
// hands their pointers and safe handles to the assembly under test.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using LlamaSpeculative;

internal static class Oracle
{
    /// <summary>A variable that pytest sets.</summary>
    internal static string Variable(string name)
    {
        return Environment.GetEnvironmentVariable(name) ?? throw new Exception($"{name} is not set: run this with pytest");
    }

    /// <summary>Path of an oracle model.</summary>
    internal static string Model(string name)
    {
        return $"{Variable("LLAMA_SPECULATIVE_MODELS")}/{name}.gguf";
    }

    /// <summary>Tokens along the oracle's cycle.</summary>
    internal static int[] Along(int start, int n)
    {
        int[] next = Variable("LLAMA_SPECULATIVE_NEXT").Split(' ').Select(int.Parse).ToArray();
        var found = new List<int>();
        for (int token = start; found.Count < n; token = next[token])
        {
            found.Add(token);
        }
        return found.ToArray();
    }

    /// <summary>A prompt, and the tokens with which every oracle target goes on.</summary>
    internal static (int[] Prompt, int[] Answer) PromptAndAnswer(int length, int n)
    {
        int[] all = Along(10, length + n);
        return (all.Take(length).ToArray(), all.Skip(length).ToArray());
    }
}

/// <summary>The helper, and libllama behind it. LLAMA_SPECULATIVE_HELPER lies beside the program under this name.</summary>
internal static class Helper
{
    private const string Name = "llama_helper";

    [DllImport(Name, EntryPoint = "helper_start")]
    internal static extern void Start();

    [DllImport(Name, EntryPoint = "helper_model_load")]
    internal static extern IntPtr ModelLoad(string path, int loadMtp);

    [DllImport(Name, EntryPoint = "llama_model_free")]
    internal static extern void ModelFree(IntPtr model);

    [DllImport(Name, EntryPoint = "helper_context_new")]
    internal static extern IntPtr ContextNew(IntPtr model, int[] options);

    [DllImport(Name, EntryPoint = "llama_free")]
    internal static extern void ContextFree(IntPtr context);

    [DllImport(Name, EntryPoint = "helper_n_vocab")]
    internal static extern int Vocabulary(IntPtr model);

    [DllImport(Name, EntryPoint = "helper_decode")]
    internal static extern int Decode(IntPtr context, int n, int[] token, int[] pos, int[] seq, sbyte[] output);

    [DllImport(Name, EntryPoint = "helper_logits")]
    internal static extern IntPtr Logits(IntPtr context, int index);

    [DllImport(Name, EntryPoint = "helper_seq_rm")]
    internal static extern int Remove(IntPtr context, int seq, int from, int to);

    [DllImport(Name, EntryPoint = "helper_chain")]
    internal static extern IntPtr Chain();

    [DllImport(Name, EntryPoint = "helper_add_rogue")]
    internal static extern void AddRogue(IntPtr chain, int throwsAt, int cloneable);

    static Helper()
    {
        Start();
    }
}

/// <summary>A model of the user's own.</summary>
internal sealed class Model : SafeHandle
{
    internal Model(string path, bool loadMtp = false)
        : base(IntPtr.Zero, true)
    {
        SetHandle(Helper.ModelLoad(path, loadMtp ? 1 : 0));
        Expect.That(!IsInvalid, $"{path} loads");
    }

    public override bool IsInvalid => handle == IntPtr.Zero;

    internal LlamaModel Lent => new LlamaModel(this);

    protected override bool ReleaseHandle()
    {
        Helper.ModelFree(handle);
        return true;
    }
}

/// <summary>A context of the user's own, which keeps its model.</summary>
internal sealed class Context : SafeHandle
{
    internal static int Alive;
    private readonly Model model;

    internal Context(Model model, int nCtx = 512, int nBatch = 64, int nUbatch = 64, int nSeqMax = 1, int nRsSeq = 0)
        : base(IntPtr.Zero, true)
    {
        bool added = false;
        model.DangerousAddRef(ref added);
        this.model = model;
        int[] options = { nCtx, nBatch, nUbatch, nSeqMax, nRsSeq, 0, 1, 1, 0, 0, 0, -1 };
        SetHandle(Helper.ContextNew(model.DangerousGetHandle(), options));
        Expect.That(!IsInvalid, "a context");
        System.Threading.Interlocked.Increment(ref Alive);
    }

    public override bool IsInvalid => handle == IntPtr.Zero;

    internal LlamaContext Lent => new LlamaContext(this);

    /// <summary>Evaluates tokens of sequence 0, all with an output.</summary>
    internal void Decode(int[] tokens, int pos0)
    {
        int[] pos = Enumerable.Range(pos0, tokens.Length).ToArray();
        sbyte[] output = tokens.Select(_ => (sbyte)1).ToArray();
        Expect.Equal(0, Helper.Decode(handle, tokens.Length, tokens, pos, new int[tokens.Length], output));
    }

    /// <summary>The target's token after a token of the last batch.</summary>
    internal int Greedy(int index)
    {
        var row = new float[Helper.Vocabulary(model.DangerousGetHandle())];
        Marshal.Copy(Helper.Logits(handle, index), row, 0, row.Length);
        return Array.IndexOf(row, row.Max());
    }

    /// <summary>Removes sequence 0 from a position on.</summary>
    internal void RemoveFrom(int pos0)
    {
        Helper.Remove(handle, 0, pos0, -1);
    }

    protected override bool ReleaseHandle()
    {
        Helper.ContextFree(handle);
        model.DangerousRelease();
        System.Threading.Interlocked.Decrement(ref Alive);
        return true;
    }
}
