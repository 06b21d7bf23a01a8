// The C# library's view: Marshal.SizeOf and Marshal.OffsetOf, which do not tell alignment.
using System;
using System.Runtime.InteropServices;
using LlamaSpeculative;

internal static class View
{
    private static void Main()
    {
        foreach (var s in Table.Structs)
        {
            Console.WriteLine($"struct {s.Name} {Marshal.SizeOf(s.Type)} 0");
            foreach (string name in s.Fields)
            {
                int size = Marshal.SizeOf(s.Type.GetField(name).FieldType);
                Console.WriteLine($"field {s.Name} {name} {Marshal.OffsetOf(s.Type, name)} {size}");
            }
        }
        foreach (var c in Table.Constants)
        {
            Console.WriteLine($"constant {(c.Key.Owner.Length == 0 ? "-" : c.Key.Owner)} {c.Key.Name} {c.Value}");
        }
        foreach (var f in Table.Functions)
        {
            Console.WriteLine($"function {f.Key} {f.Value:x}");
        }
    }
}
