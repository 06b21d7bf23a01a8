package suite

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"

	spec "llamaspeculative"
	"llamaspeculative/raw"
)

func TestTheLibrarySaysWhatItWasBuiltFrom(t *testing.T) {
	details := must[spec.BuildDetails](t)(Library().BuildInfo())
	if details.ABIVersion != Library().ABIVersion() || len(details.LlamaCommit) < 7 || !strings.Contains(details.Backends, "CPU") {
		t.Errorf("%+v", details)
	}
	if name := Library().StatusName(int32(spec.StatusErrorUnsupported)); name != "ERROR_UNSUPPORTED" || name != spec.StatusErrorUnsupported.String() {
		t.Error(name)
	}
}

func TestAMovedFieldIsNamedAlthoughTheSizeIsTheSame(t *testing.T) {
	_, err := spec.Load(Variable("LLAMA_SPECULATIVE_DOCTORED"))
	var layout *spec.LayoutError
	if !errors.As(err, &layout) || len(layout.Mismatches) != 2 {
		t.Fatal(err)
	}
	expected := []spec.Mismatch{
		{Item: "counters.n_drafted", Expected: "offset 24, size 8", Found: "offset 32, size 8"},
		{Item: "counters.n_accepted", Expected: "offset 32, size 8", Found: "offset 24, size 8"},
	}
	if !reflect.DeepEqual(layout.Mismatches, expected) || !strings.Contains(err.Error(), expected[0].String()) {
		t.Error(err)
	}
}

func TestAnotherLibraryWithTheSameNamesDoesNoHarm(t *testing.T) {
	// it is loaded first and offers its symbols to everybody
	if !OpenForAll(Variable("LLAMA_SPECULATIVE_DOCTORED")) {
		t.Fatal("the other library does not load")
	}
	library := must[*spec.Library](t)(spec.Load(Variable("LLAMA_SPECULATIVE_LIB")))
	if name := library.StatusName(0); name != "OK" { // the other one ends the process instead
		t.Error(name)
	}
	params := spec.DefaultSessionParams()
	params.Model, params.NCtx, params.NThreads = ModelPath("target-llama"), 64, 1
	session := must[*spec.Session](t)(library.OpenSession(params))
	defer session.Close()
	count := 0
	for _, err := range session.Generate(context.Background(), []int32{10}, limit(4)) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count != 4 {
		t.Error(count)
	}
}

func TestALibraryThatIsNotThereIsAnErrorWithItsPath(t *testing.T) {
	var load *spec.LoadError
	if _, err := spec.Load("/nowhere/lib.so"); !errors.As(err, &load) || load.Path != "/nowhere/lib.so" || !strings.Contains(load.Reason, "No such file") {
		t.Error(err)
	}
	_, err := spec.Load(Variable("LLAMA_SPECULATIVE_OTHER"))
	if !errors.As(err, &load) || load.Reason != "it has no function llama_speculative_abi_version" {
		t.Error(err)
	}
}

// same compares what the fields of the same name hold; a raw text, array or callback is not compared.
func same(t *testing.T, ours, theirs any) {
	t.Helper()
	own, lib := reflect.ValueOf(ours).Elem(), reflect.ValueOf(theirs).Elem()
	compared := 0
	for i := range own.NumField() {
		name := own.Type().Field(i).Name
		a, b := own.Field(i), lib.FieldByName(name)
		if a.Kind() == reflect.Bool {
			if a.Bool() != (b.Int() != 0) {
				t.Errorf("%s: %v instead of %v", name, a, b)
			}
		} else if a.Kind() != b.Kind() || a.Kind() == reflect.Pointer {
			continue
		} else if !a.Equal(b) {
			t.Errorf("%s: %v instead of %v", name, a, b)
		}
		compared++
	}
	if compared < 3 {
		t.Errorf("only %d fields of %T were compared", compared, ours)
	}
}

func TestDefaultsAreTheLibrarysOwn(t *testing.T) {
	library := Library().Raw()
	var params raw.Params
	var session raw.SessionParams
	var gen raw.GenParams
	if library.ParamsInit(&params, unsafe.Sizeof(params)) != 0 || library.SessionParamsInit(&session, unsafe.Sizeof(session)) != 0 ||
		library.GenParamsInit(&gen, unsafe.Sizeof(gen)) != 0 {
		t.Fatal("no defaults")
	}
	same(t, spec.DefaultParams(), &params)
	same(t, spec.DefaultSessionParams(), &session)
	same(t, spec.DefaultGenParams(), &gen)
	if strategies := raw.Text(params.Strategies); strategies != spec.DefaultParams().Strategies {
		t.Error(strategies)
	}
}

// One test, since there is one log per process.
func TestLogLinesArriveAndAPanicAmongThemIsAnError(t *testing.T) {
	library := must[*spec.Library](t)(spec.Load(""))
	var mutex sync.Mutex
	var lines []string
	keep := func(_ spec.LogLevel, text string) {
		mutex.Lock()
		defer mutex.Unlock()
		lines = append(lines, text)
	}
	params := spec.DefaultSessionParams()
	params.Model, params.NCtx, params.NThreads = ModelPath("target-llama"), 64, 1
	if err := library.LogSet(keep); err != nil {
		t.Fatal(err)
	}
	must[*spec.Session](t)(library.OpenSession(params)).Close()
	if err := library.LogSet(func(spec.LogLevel, string) { panic("in the log") }); err != nil {
		t.Fatal(err)
	}
	_, err := library.OpenSession(params)
	var panicked *spec.CallbackError
	if !errors.As(err, &panicked) || panicked.Value != "in the log" {
		t.Error(err)
	}
	_ = library.LogSet(nil) // may still tell of a panic while the session that was not returned was closed
	mutex.Lock()
	defer mutex.Unlock()
	if !strings.Contains(strings.Join(lines, ""), "llama") {
		t.Errorf("%d lines", len(lines))
	}
	must[*spec.Session](t)(library.OpenSession(params)).Close()
}
