// What opening a library says, for tests that need a process of their own: `load PATH [FIRST]`, FIRST loaded before for all to see.
using System;
using System.Runtime.InteropServices;
using LlamaSpeculative;

internal static class Load
{
    private const int NowGlobal = 0x102;

    [DllImport("libdl.so.2")]
    private static extern IntPtr dlopen(string path, int flags);

    private static int Main(string[] arguments)
    {
        if (arguments.Length > 1 && dlopen(arguments[1], NowGlobal) == IntPtr.Zero)
        {
            return 2;
        }
        try
        {
            Library.Load(arguments[0]);
            Console.WriteLine(Library.StatusName(0));
        }
        catch (LibraryLayoutException exception)
        {
            foreach (Mismatch mismatch in exception.Mismatches)
            {
                Console.WriteLine(mismatch);
            }
        }
        catch (LibraryLoadException exception)
        {
            Console.WriteLine($"{exception.Path}|{exception.Message}");
        }
        return 0;
    }
}
