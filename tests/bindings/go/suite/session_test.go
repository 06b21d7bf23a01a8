package suite

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	spec "llamaspeculative"
)

func sessionParams(strategies string) *spec.SessionParams {
	params := spec.DefaultSessionParams()
	params.Model = ModelPath("target-llama")
	params.NCtx, params.NBatch, params.NUbatch, params.NThreads = 256, 64, 64, 1
	params.Speculative = spec.DefaultParams()
	params.Speculative.Strategies, params.Speculative.NDraftMax = strategies, 8
	return params
}

func drafting() *spec.SessionParams {
	params := sessionParams("draft-simple")
	params.ModelDraft = ModelPath("draft-llama")
	return params
}

func open(t testing.TB, params *spec.SessionParams) *spec.Session {
	t.Helper()
	session, err := Library().OpenSession(params)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func limit(n int32) *spec.GenParams {
	params := spec.DefaultGenParams()
	params.NPredict = n
	return params
}

// collect runs an answer to its end.
func collect(t testing.TB, session *spec.Session, tokens []int32, params *spec.GenParams) (pieces []spec.Piece, text string) {
	t.Helper()
	for piece, err := range session.Generate(context.Background(), tokens, params) {
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, piece)
		text += piece.Text
	}
	return pieces, text
}

func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func rounds(t testing.TB, session *spec.Session) uint64 {
	t.Helper()
	return must[spec.Counters](t)(must[*spec.Spec](t)(session.Spec()).Stats(0, "")).NRounds
}

func TestPiecesAreTheTargetsTextWithItsAcceptedTokensMarked(t *testing.T) {
	prompt, answer := PromptAndAnswer(24, 64)
	session, plain := open(t, drafting()), open(t, sessionParams("none"))
	_, expected := collect(t, plain, prompt, limit(64))
	pieces, text := collect(t, session, prompt, limit(64))
	if text != expected {
		t.Errorf("%q, but plain decoding gives %q", text, expected)
	}
	if tokens := must[[]int32](t)(session.Tokenize(text, false, false)); !slices.Equal(tokens, answer) {
		t.Errorf("%v instead of the oracle's %v", tokens, answer)
	}
	marked := 0
	for _, piece := range pieces {
		marked += int(piece.NTokensDraft)
	}
	result := must[spec.GenResult](t)(session.Result())
	if result.NEmitted != 64 || marked != int(result.NAccepted) || marked == 0 || result.NAccepted == result.NDrafted {
		t.Errorf("%d marked, %+v", marked, result)
	}
	if rate := result.AcceptanceRate(); rate != float64(result.NAccepted)/float64(result.NDrafted) {
		t.Error("acceptance rate", rate)
	}
}

func TestTheFirstPieceIsThereBeforeTheSecondIsDecoded(t *testing.T) {
	prompt, _ := PromptAndAnswer(24, 0)
	session := open(t, sessionParams("none"))
	seen := 0
	for piece, err := range session.Generate(context.Background(), prompt, limit(64)) {
		if err != nil || piece.NTokens != 1 {
			t.Fatal(piece, err)
		}
		seen++
		if n := rounds(t, session); n != uint64(seen) {
			t.Fatalf("%d rounds after piece %d", n, seen)
		}
		if seen == 3 {
			break
		}
	}
	collect(t, session, prompt, limit(8)) // goes on after an answer that was left
	if result := must[spec.GenResult](t)(session.Result()); result.NEmitted != 8 || result.Finish != spec.FinishLimit {
		t.Errorf("%+v", result)
	}
}

func TestADoneContextEndsTheAnswerWithItsCauseAndTheNextOneIsWhole(t *testing.T) {
	prompt, answer := PromptAndAnswer(24, 20)
	session := open(t, drafting())
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	seen := 0
	var last error
	for _, err := range session.Generate(ctx, prompt, limit(200)) {
		last = err
		seen++
		cancel(why)
	}
	if !errors.Is(last, why) || seen != 2 {
		t.Errorf("%d items, the last with %v", seen, last)
	}
	for _, err := range session.Generate(ctx, prompt, limit(8)) { // from the start
		if !errors.Is(err, why) {
			t.Error(err)
		}
	}
	_, text := collect(t, session, prompt, limit(20))
	if tokens := must[[]int32](t)(session.Tokenize(text, false, false)); !slices.Equal(tokens, answer) {
		t.Errorf("%v instead of %v", tokens, answer)
	}
}

func TestACancelThatNobodySawDoesNotHitTheNextAnswer(t *testing.T) {
	prompt, _ := PromptAndAnswer(24, 0)
	session := open(t, sessionParams("none"))
	for range 50 {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for _, err := range session.Generate(ctx, prompt, limit(1)) {
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			cancel() // behind the last decode
		}
		if pieces, _ := collect(t, session, prompt, limit(4)); len(pieces) != 4 {
			t.Fatalf("%d pieces", len(pieces))
		}
	}
}

func TestCancelFromAnotherGoroutineEndsTheAnswer(t *testing.T) {
	prompt, _ := PromptAndAnswer(24, 0)
	session := open(t, sessionParams("none"))
	seen := 0
	for _, err := range session.Generate(context.Background(), prompt, limit(200)) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		done := make(chan error)
		go func() { done <- session.Cancel() }()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if result := must[spec.GenResult](t)(session.Result()); seen != 1 || result.Finish != spec.FinishCancelled {
		t.Errorf("%d pieces, %v", seen, result.Finish)
	}
}

func TestClosingIsDoneOnceAndUsingAClosedObjectIsAnError(t *testing.T) {
	prompt, _ := PromptAndAnswer(24, 0)
	session := open(t, sessionParams("none"))
	loop := must[*spec.Spec](t)(session.Spec())
	if err := errors.Join(loop.Close(), session.Close(), session.Close()); err != nil {
		t.Fatal(err)
	}
	_, tokenize := session.Tokenize("ab", false, false)
	_, info := loop.SeqInfo(0)
	var streamed error
	for _, err := range session.Generate(context.Background(), prompt, nil) {
		streamed = err
	}
	for _, err := range []error{tokenize, info, streamed, session.Cancel(), loop.Cancel()} {
		if !errors.Is(err, spec.ErrClosed) {
			t.Error(err)
		}
	}
	if err := (*spec.Session)(nil).Close(); err != nil {
		t.Error(err)
	}
}

func TestASecondCallAtTheSameTimeIsRefusedAndHarmless(t *testing.T) {
	prompt, _ := PromptAndAnswer(24, 0)
	session := open(t, sessionParams("none"))
	loop := must[*spec.Spec](t)(session.Spec())
	result, status, err := session.GenerateFunc(prompt, limit(8), func(spec.Piece) bool {
		_, tokenize := session.Tokenize("ab", false, false)
		_, info := loop.SeqInfo(0)
		for _, err := range []error{tokenize, info, session.Close()} {
			if !errors.Is(err, spec.ErrBusy) {
				t.Error(err)
			}
		}
		return true
	})
	if err != nil || status != spec.StatusEnd || result.NEmitted != 8 {
		t.Error(result, status, err)
	}
}

func TestCancelMayMeetClose(t *testing.T) {
	for range 20 {
		session := open(t, sessionParams("none"))
		var wait sync.WaitGroup
		for range 4 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for session.Cancel() == nil {
				}
			}()
		}
		if err := session.Close(); err != nil {
			t.Fatal(err)
		}
		wait.Wait()
	}
}

func TestACallbackMayBreakOffAndItsPanicIsAnError(t *testing.T) {
	prompt, _ := PromptAndAnswer(24, 0)
	session := open(t, drafting())
	seen := 0
	result, status, err := session.GenerateFunc(prompt, limit(64), func(piece spec.Piece) bool {
		seen += int(piece.NTokens)
		return seen < 5
	})
	if err != nil || status != spec.StatusCancelled || result.Finish != spec.FinishCancelled {
		t.Error(result, status, err)
	}
	why := errors.New("on purpose")
	_, _, err = session.GenerateFunc(prompt, limit(64), func(spec.Piece) bool { panic(why) })
	var panicked *spec.CallbackError
	if !errors.As(err, &panicked) || !errors.Is(err, why) || !strings.Contains(panicked.Stack, "session_test.go") {
		t.Errorf("%v", err)
	}
	collect(t, session, prompt, limit(20))
	if result := must[spec.GenResult](t)(session.Result()); result.NEmitted != 20 {
		t.Errorf("%+v", result)
	}
}

func TestProgressIsReportedAndMayStopTheOpening(t *testing.T) {
	params := sessionParams("none")
	seen := 0
	params.Progress = func(progress float32) bool { seen++; return progress >= 0 && progress <= 1 }
	open(t, params)
	if seen == 0 {
		t.Error("no progress")
	}
	params.Progress = func(float32) bool { return false }
	if _, err := Library().OpenSession(params); !errors.Is(err, spec.ErrCancelled) {
		t.Error(err)
	}
	params.Progress = func(float32) bool { panic("while loading") }
	var panicked *spec.CallbackError
	if _, err := Library().OpenSession(params); !errors.As(err, &panicked) || panicked.Value != "while loading" {
		t.Error(err)
	}
}

func TestEachRefusalHasItsOwnErrorWithStatusAndMessage(t *testing.T) {
	refused := func(change func(*spec.SessionParams)) error {
		params := sessionParams("none")
		change(params)
		_, err := Library().OpenSession(params)
		return err
	}
	vocabulary := refused(func(p *spec.SessionParams) {
		p.Speculative.Strategies, p.ModelDraft = "draft-simple", ModelPath("draft-llama-bigvocab")
	})
	var unsupported *spec.UnsupportedError
	var failure *spec.Error
	if !errors.As(vocabulary, &unsupported) || !errors.As(vocabulary, &failure) || !errors.Is(vocabulary, spec.ErrUnsupported) {
		t.Error(vocabulary)
	}
	if failure.Status != spec.StatusErrorUnsupported || !strings.Contains(failure.Message, "vocabulary") || failure.Function != "session_open" {
		t.Errorf("%+v", failure)
	}
	for name, row := range map[string]struct {
		err, is error
		text    string
	}{
		"model":    {refused(func(p *spec.SessionParams) { p.Model = "nowhere" }), spec.ErrModel, "nowhere"},
		"strategy": {refused(func(p *spec.SessionParams) { p.Speculative.Strategies = "draft-simpel" }), spec.ErrInvalidArgument, "draft-simpel"},
		"grammar":  {refused(func(p *spec.SessionParams) { p.Grammar = "root ::= (" }), spec.ErrSampler, "grammar"},
		"NUL":      {refused(func(p *spec.SessionParams) { p.Device = "a\x00b" }), spec.ErrInvalidArgument, "device holds a NUL character"},
	} {
		if !errors.Is(row.err, row.is) || !strings.Contains(row.err.Error(), row.text) || errors.As(row.err, &unsupported) {
			t.Errorf("%s: %v", name, row.err)
		}
	}
	session := open(t, sessionParams("none"))
	if _, err := session.Result(); !errors.Is(err, spec.ErrCallOrder) || !strings.Contains(err.Error(), "session_start") {
		t.Error(err)
	}
	if _, err := session.ChatApply([]spec.ChatMessage{{Role: "user", Content: "hello"}}, true); !errors.Is(err, spec.ErrUnsupported) {
		t.Error(err)
	}
}

func TestAnErrorSaysWhichSequenceItLeftAndHow(t *testing.T) {
	session := open(t, sessionParams("none"))
	var failure *spec.Error
	for _, err := range session.Generate(context.Background(), []int32{10, 1000000}, nil) {
		if !errors.As(err, &failure) || failure.Status != spec.StatusErrorInvalidArgument {
			t.Fatal(err)
		}
	}
	if failure.Sequence == nil || *failure.Sequence != (spec.SequenceLeft{ID: 0, State: spec.SeqStateNeedsBegin}) {
		t.Errorf("%+v", failure.Sequence)
	}
	prompt, _ := PromptAndAnswer(24, 0)
	collect(t, session, prompt, limit(4))
	err := must[*spec.Spec](t)(session.Spec()).Commit(0, 1)
	if !errors.As(err, &failure) || failure.Sequence == nil || failure.Sequence.State != spec.SeqStateReady {
		t.Error(err)
	}
}

func TestStopStringsAndSeedsGoThrough(t *testing.T) {
	prompt, _ := PromptAndAnswer(24, 0)
	session := open(t, drafting())
	_, whole := collect(t, session, prompt, limit(30))
	params := limit(30)
	params.Stops = []string{"never", whole[9:12]}
	_, text := collect(t, session, prompt, params)
	if before, _, _ := strings.Cut(whole, whole[9:12]); text != before {
		t.Errorf("%q instead of %q", text, before)
	}
	if result := must[spec.GenResult](t)(session.Result()); result.Finish != spec.FinishStop || result.StopIndex != 1 {
		t.Errorf("%+v", result)
	}
	soft := func(seed uint32) string {
		params := sessionParams("none")
		params.Model, params.Temperature, params.TopK, params.Seed = ModelPath("target-llama-soft"), 2, 0, seed
		_, text := collect(t, open(t, params), prompt, limit(40))
		return text
	}
	if first := soft(1); first != soft(1) || first == soft(2) {
		t.Error("seeds do not decide")
	}
}

func TestSessionsOnTwoGoroutinesDoNotMeet(t *testing.T) {
	prompt, answer := PromptAndAnswer(24, 64)
	var wait sync.WaitGroup
	for range 2 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for range 5 {
				session, err := Library().OpenSession(drafting())
				if err != nil {
					t.Error(err)
					return
				}
				text := ""
				for piece, err := range session.Generate(context.Background(), prompt, limit(64)) {
					if err != nil {
						t.Error(err)
					}
					text += piece.Text
				}
				if tokens, err := session.Tokenize(text, false, false); err != nil || !slices.Equal(tokens, answer) {
					t.Error(tokens, err)
				}
				if err := session.Close(); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wait.Wait()
}

func TestArgumentsStayWhereTheyAreUnderAGarbageCollectorInAHurry(t *testing.T) {
	prompt, answer := PromptAndAnswer(24, 64)
	var stop atomic.Bool
	var wait sync.WaitGroup
	wait.Add(1)
	go func() {
		defer wait.Done()
		for !stop.Load() {
			runtime.GC()
		}
	}()
	for range 20 {
		params := drafting()
		params.Progress = func(float32) bool { runtime.GC(); return true }
		session := open(t, params)
		limits := limit(64)
		limits.Stops = []string{"never", "ever"}
		text := ""
		_, _, err := session.GenerateFunc(slices.Clone(prompt), limits, func(piece spec.Piece) bool {
			runtime.GC()
			text += piece.Text
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if tokens := must[[]int32](t)(session.Tokenize(text, false, false)); !slices.Equal(tokens, answer) {
			t.Fatalf("%q", text)
		}
	}
	stop.Store(true)
	wait.Wait()
}

// resident is resident memory in pages.
func resident(t *testing.T) int {
	statm := must[[]byte](t)(os.ReadFile("/proc/self/statm"))
	return must[int](t)(strconv.Atoi(strings.Fields(string(statm))[1]))
}

func small(t testing.TB) *spec.SessionParams {
	params := drafting()
	params.NCtx, params.NBatch, params.NUbatch = 32, 16, 16
	return params
}

func TestAThousandSessionsLeaveNoMemoryBehind(t *testing.T) {
	// glibc gives each thread that allocates an arena of its own; a busy machine moves a goroutine between many
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	prompt, _ := PromptAndAnswer(4, 0)
	cycle := func() {
		session := must[*spec.Session](t)(Library().OpenSession(small(t)))
		collect(t, session, prompt, limit(4))
		if err := session.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		cycle()
	}
	runtime.GC()
	before := resident(t)
	for range 1000 {
		cycle()
	}
	runtime.GC()
	if grown := resident(t) - before; grown > 1024 {
		t.Errorf("%d pages more after 1000 sessions", grown)
	}
}
