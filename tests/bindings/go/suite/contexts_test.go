package suite

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	spec "llamaspeculative"
)

func draftSimple() *spec.Params {
	params := spec.DefaultParams()
	params.Strategies, params.NDraftMax = "draft-simple", 8
	return params
}

// onContexts makes a spec on contexts of the user's own.
func onContexts(t *testing.T, params *spec.Params, options Options) *spec.Spec {
	t.Helper()
	target := must[*Model](t)(LoadModel(ModelPath("target-llama"), false))
	t.Cleanup(target.Free)
	draft := must[*Model](t)(LoadModel(ModelPath("draft-llama"), false))
	t.Cleanup(draft.Free)
	ctx := NewContext(target, options)
	t.Cleanup(ctx.Free)
	draftContext := must[*spec.OwnedLlamaContext](t)(Library().NewDraftContext(ctx.Get(), draft.Get(), params))
	t.Cleanup(func() {
		if err := draftContext.Close(); err != nil {
			t.Error(err)
		}
	})
	made := must[*spec.Spec](t)(Library().NewSpec(ctx.Get(), draftContext.Get(), params))
	t.Cleanup(func() {
		if err := draftContext.Close(); made.Pointer() != nil && err == nil {
			t.Error("the draft context closes while the spec lives")
		}
		made.Close()
	})
	return made
}

func prompted(t *testing.T, s *spec.Spec, tokens []int32) {
	t.Helper()
	if status, err := s.Decode(&spec.Batch{Token: tokens}); err != nil || status != spec.StatusOK {
		t.Fatal(status, err)
	}
}

// emit runs rounds on sequence 0 until n tokens are emitted.
func emit(t *testing.T, s *spec.Spec, n int32) (emitted []int32) {
	t.Helper()
	if err := s.SeqSetLimits(0, -1, n); err != nil {
		t.Fatal(err)
	}
	for must[spec.Status](t)(s.Decode(nil)) == spec.StatusOK {
		emitted = append(emitted, must[[]int32](t)(s.AcceptedTokens(0))...)
	}
	return emitted
}

func TestRequirementsSayWhatTheContextsMustBeLike(t *testing.T) {
	draft := must[*Model](t)(LoadModel(ModelPath("draft-llama"), false))
	defer draft.Free()
	for name, expected := range map[string]spec.Rollback{"target-llama": spec.RollbackRemove, "hybrid-qwen35": spec.RollbackSnapshots} {
		target := must[*Model](t)(LoadModel(ModelPath(name), false))
		needs := must[spec.Needs](t)(Library().Requirements(target.Get(), draft.Get(), draftSimple()))
		if needs.Rollback != expected || !needs.NeedsDraftModel || needs.LoadMTP || needs.NDraftMax != 8 {
			t.Errorf("%s: %+v", name, needs)
		}
		target.Free()
	}
}

func TestAPartOfARoundIsKeptAndTheRestTakenBackEverywhere(t *testing.T) {
	prompt, answer := PromptAndAnswer(24, 80)
	s := onContexts(t, draftSimple(), Options{})
	prompted(t, s, prompt)
	var emitted []int32
	for keep := 1; keep <= 3; {
		if status := must[spec.Status](t)(s.Decode(nil)); status != spec.StatusOK {
			t.Fatal(status)
		}
		tokens := must[[]int32](t)(s.AcceptedTokens(0))
		kept := min(keep, len(tokens))
		emitted = append(emitted, tokens[:kept]...)
		if err := s.Commit(0, int32(kept)); err != nil {
			t.Fatal(err)
		}
		if len(tokens) > kept {
			keep++ // something was really taken back
		}
	}
	emitted = append(emitted, emit(t, s, int32(80-len(emitted)))...)
	if !slices.Equal(emitted, answer) {
		t.Errorf("%v instead of %v", emitted, answer)
	}
}

func TestASharedPrefixIsKeptAndACopyStandsByItself(t *testing.T) {
	prompt, answer := PromptAndAnswer(24, 40)
	s := onContexts(t, draftSimple(), Options{NCtx: 1024, NSeqMax: 2})
	prompted(t, s, prompt)
	for range 2 {
		if emitted := emit(t, s, 40); !slices.Equal(emitted, answer) {
			t.Fatalf("%v instead of %v", emitted, answer)
		}
		if err := s.SeqTruncate(0, 24); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.SeqCopy(0, 1), s.SeqClear(0)); err != nil {
		t.Fatal(err)
	}
	first, second := must[spec.SeqStatus](t)(s.SeqInfo(0)), must[spec.SeqStatus](t)(s.SeqInfo(1))
	if first.State != spec.SeqStateNeedsBegin || second.NTokens != 24 {
		t.Errorf("%+v %+v", first, second)
	}
}

func TestASavedStateGoesOnInAnotherSpecAndADamagedOneIsRefused(t *testing.T) {
	prompt, answer := PromptAndAnswer(24, 60)
	first := onContexts(t, draftSimple(), Options{})
	prompted(t, first, prompt)
	emitted := emit(t, first, 30)
	saved := must[[]byte](t)(first.StateSave(0))

	second := onContexts(t, draftSimple(), Options{})
	_, err := second.StateLoad(0, saved[:len(saved)/2])
	var failure *spec.Error
	if !errors.Is(err, spec.ErrState) || !errors.As(err, &failure) || failure.Sequence.State != spec.SeqStateNeedsBegin {
		t.Error(err)
	}
	if status := must[spec.Status](t)(second.StateLoad(0, saved)); status != spec.StatusOK {
		t.Error(status)
	}
	if emitted = append(emitted, emit(t, second, 30)...); !slices.Equal(emitted, answer) {
		t.Errorf("%v instead of %v", emitted, answer)
	}
}

func TestAnOpenRoundIsAnErrorOfItsOwn(t *testing.T) {
	prompt, _ := PromptAndAnswer(24, 0)
	s := onContexts(t, draftSimple(), Options{})
	prompted(t, s, prompt)
	must[spec.Status](t)(s.Decode(nil))
	if _, err := s.StateSave(0); !errors.Is(err, spec.ErrRoundOpen) {
		t.Error(err)
	}
	if err := s.SeqTruncate(0, 3); !errors.Is(err, spec.ErrRoundOpen) {
		t.Error(err)
	}
}

func TestLogitsOfAnAcceptedTokenChooseIt(t *testing.T) {
	prompt, _ := PromptAndAnswer(24, 0)
	s := onContexts(t, draftSimple(), Options{})
	prompted(t, s, prompt)
	must[spec.Status](t)(s.Decode(nil))
	tokens := must[[]int32](t)(s.AcceptedTokens(0))
	for i, token := range tokens {
		if best := Argmax(must[[]float32](t)(s.Logits(0, int32(i)))); best != token {
			t.Errorf("%d at %d instead of %d", best, i, token)
		}
	}
	if _, err := s.Logits(0, int32(len(tokens))); !errors.Is(err, spec.ErrInvalidArgument) || len(tokens) < 2 {
		t.Error(len(tokens), err)
	}
}

func TestASecondSpecOnOneTargetIsRefusedWhileTheFirstLives(t *testing.T) {
	target := must[*Model](t)(LoadModel(ModelPath("target-llama"), false))
	defer target.Free()
	ctx := NewContext(target, Options{})
	defer ctx.Free()
	plain := spec.DefaultParams()
	first := must[*spec.Spec](t)(Library().NewSpec(ctx.Get(), spec.LlamaContext{}, plain))
	_, err := Library().NewSpec(ctx.Get(), spec.LlamaContext{}, plain)
	var failure *spec.Error
	if !errors.Is(err, spec.ErrBusy) || !errors.As(err, &failure) || failure.Message == "" {
		t.Error(err)
	}
	first.Close()
	second := must[*spec.Spec](t)(Library().NewSpec(ctx.Get(), spec.LlamaContext{}, plain))
	second.Close()
}

func TestAForgottenSpecIsReleasedWhenItIsCollected(t *testing.T) {
	target := must[*Model](t)(LoadModel(ModelPath("target-llama"), false))
	defer target.Free()
	ctx := NewContext(target, Options{})
	defer ctx.Free()
	must[*spec.Spec](t)(Library().NewSpec(ctx.Get(), spec.LlamaContext{}, spec.DefaultParams()))
	for range 1000 {
		runtime.GC()
		if second, err := Library().NewSpec(ctx.Get(), spec.LlamaContext{}, spec.DefaultParams()); err == nil {
			second.Close()
			return
		}
	}
	t.Error("the target is still busy")
}

func TestADraftContextOutlivesTheSpecThatUsesIt(t *testing.T) {
	target := must[*Model](t)(LoadModel(ModelPath("target-llama"), false))
	defer target.Free()
	draft := must[*Model](t)(LoadModel(ModelPath("draft-llama"), false))
	defer draft.Free()
	ctx := NewContext(target, Options{})
	defer ctx.Free()
	made := must[*spec.OwnedLlamaContext](t)(Library().NewDraftContext(ctx.Get(), draft.Get(), draftSimple()))
	s := must[*spec.Spec](t)(Library().NewSpec(ctx.Get(), made.Get(), draftSimple()))
	if err := made.Close(); !errors.Is(err, spec.ErrBusy) {
		t.Error(err)
	}
	made = nil
	runtime.GC() // the spec keeps what it was made on
	prompt, answer := PromptAndAnswer(24, 20)
	prompted(t, s, prompt)
	if emitted := emit(t, s, 20); !slices.Equal(emitted, answer) {
		t.Error(emitted)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	none := must[*spec.OwnedLlamaContext](t)(Library().NewDraftContext(ctx.Get(), spec.LlamaModel{}, spec.DefaultParams()))
	if none != nil || !none.Get().IsZero() || none.Close() != nil {
		t.Error("a draft context that nobody needs")
	}
}

func TestArraysOfABatchMustBeOfOneLength(t *testing.T) {
	s := onContexts(t, draftSimple(), Options{})
	_, err := s.Decode(&spec.Batch{Token: []int32{10, 11}, SeqID: []int32{0}})
	if !errors.Is(err, spec.ErrInvalidArgument) || !strings.Contains(err.Error(), "seq_id has 1 elements, but token has 2") {
		t.Error(err)
	}
}

func TestASamplerThatThrowsIsAnErrorAndGreedyGoesOn(t *testing.T) {
	prompt, answer := PromptAndAnswer(24, 20)
	s := onContexts(t, draftSimple(), Options{})
	rogue, free := Rogue(3)
	defer free()
	if err := s.SeqSetSampler(0, rogue); err != nil {
		t.Fatal(err)
	}
	prompted(t, s, prompt)
	var err error
	for err == nil {
		_, err = s.Decode(nil)
	}
	if !strings.Contains(err.Error(), "the sampler threw on purpose") {
		t.Error(err)
	}
	if err := errors.Join(s.SeqSetSampler(0, spec.LlamaSampler{}), s.SeqClear(0)); err != nil {
		t.Fatal(err)
	}
	prompted(t, s, prompt)
	if emitted := emit(t, s, 20); !slices.Equal(emitted, answer) {
		t.Errorf("%v instead of %v", emitted, answer)
	}
}

func TestCancelIsSeenByTheNextDecode(t *testing.T) {
	prompt, answer := PromptAndAnswer(24, 20)
	s := onContexts(t, draftSimple(), Options{})
	prompted(t, s, prompt)
	if err := s.Cancel(); err != nil {
		t.Fatal(err)
	}
	if status := must[spec.Status](t)(s.Decode(nil)); status != spec.StatusCancelled {
		t.Error(status)
	}
	if emitted := emit(t, s, 20); !slices.Equal(emitted, answer) {
		t.Errorf("%v instead of %v", emitted, answer)
	}
}

func TestHiddenRowsHaveCNames(t *testing.T) {
	target := must[*Model](t)(LoadModel(ModelPath("mtp-mimo2-1"), true))
	defer target.Free()
	ctx := NewContext(target, Options{})
	defer ctx.Free()
	if _, err := Library().HiddenRow(ctx.Get(), 0); !errors.Is(err, spec.ErrCallOrder) {
		t.Error(err)
	}
	if err := Library().HiddenEnable(ctx.Get(), spec.HiddenModeAll); err != nil {
		t.Fatal(err)
	}
	ctx.Decode([]int32{10, 11, 12}, 0)
	row := must[[]float32](t)(Library().HiddenRow(ctx.Get(), 2))
	if len(row) < 64 || !slices.ContainsFunc(row, func(value float32) bool { return value != 0 }) {
		t.Error(row)
	}
}

func TestCountersAddUpByStrategy(t *testing.T) {
	prompt, _ := PromptAndAnswer(24, 0)
	s := onContexts(t, draftSimple(), Options{})
	prompted(t, s, prompt)
	emit(t, s, 64)
	all := must[spec.Counters](t)(s.Stats(spec.SeqAll, ""))
	own := must[spec.Counters](t)(s.Stats(0, "draft-simple"))
	if all.NEmitted != 64 || all.NAccepted != own.NAccepted || own.NAccepted == 0 || all.AcceptanceRate() == 0 {
		t.Errorf("%+v %+v", all, own)
	}
	if _, err := s.Stats(0, "draft-simpel"); !errors.Is(err, spec.ErrInvalidArgument) {
		t.Error(err)
	}
	if err := s.StatsReset(); err != nil {
		t.Fatal(err)
	}
	if all := must[spec.Counters](t)(s.Stats(spec.SeqAll, "")); all.AcceptanceRate() != 0 || all.NEmitted != 0 {
		t.Errorf("%+v", all)
	}
}
