// Runs the tests or the shared cases, or lists the defaults: `suite tests`, `suite cases`, `suite defaults`.
using System;
using System.Globalization;
using System.Linq;
using System.Reflection;
using LlamaSpeculative;

/// <summary>A test, named by a sentence about behaviour.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class TestAttribute : Attribute
{
    internal readonly string Sentence;

    internal TestAttribute(string sentence)
    {
        Sentence = sentence;
    }
}

internal static class Program
{
    private static int Main(string[] arguments)
    {
        switch (arguments[0])
        {
            case "cases":
                return Cases.Run();
            case "defaults":
                ListDefaults("params", new Params());
                ListDefaults("session_params", new SessionParams());
                ListDefaults("gen_params", new GenParams());
                return 0;
            default:
                return RunTests();
        }
    }

    private static void ListDefaults(string name, object parameters)
    {
        foreach (PropertyInfo property in parameters.GetType().GetProperties())
        {
            string value = Convert.ToString(property.GetValue(parameters), CultureInfo.InvariantCulture);
            Console.WriteLine($"{name}.{property.Name}={value}");
        }
    }

    private static int RunTests()
    {
        const BindingFlags All = BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.Public;
        var tests = typeof(Program).Assembly.GetTypes()
            .SelectMany(type => type.GetMethods(All))
            .Where(method => method.GetCustomAttribute<TestAttribute>() != null)
            .ToList();
        int failed = 0;
        foreach (MethodInfo test in tests)
        {
            string sentence = test.GetCustomAttribute<TestAttribute>().Sentence;
            try
            {
                test.Invoke(null, null);
                Console.WriteLine($"ok {sentence}");
            }
            catch (TargetInvocationException exception)
            {
                failed++;
                Console.WriteLine($"FAILED {sentence}: {exception.InnerException}");
            }
        }
        Console.WriteLine($"{tests.Count - failed} passed, {failed} failed");
        return failed == 0 ? 0 : 1;
    }
}

/// <summary>Expectations.</summary>
internal static class Expect
{
    internal static void That(bool condition, string what)
    {
        if (!condition)
        {
            throw new Exception($"expected: {what}");
        }
    }

    internal static void Equal<T>(T expected, T actual)
    {
        if (!Equals(expected, actual))
        {
            throw new Exception($"expected {expected}, got {actual}");
        }
    }

    internal static void Equal(int[] expected, int[] actual)
    {
        Equal(string.Join(" ", expected), string.Join(" ", actual));
    }

    internal static T Throws<T>(Action body)
        where T : Exception
    {
        try
        {
            body();
        }
        catch (T exception)
        {
            return exception;
        }
        throw new Exception($"expected {typeof(T).Name}, and nothing was thrown");
    }
}
