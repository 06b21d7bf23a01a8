// Command cases runs the shared cases: it reads them from standard input and writes what it saw, see tests/cases/README.md.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"llamaspeculative"
	"suite"
)

type runCase struct {
	name, layer, target, draft string
	loadMTP                    bool
	sequences, nPredict        int32
	context                    suite.Options
	params                     *llamaspeculative.Params
	stops                      []string
	prompt                     []int32
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	c := newCase()
	for lines.Scan() {
		if !c.take(lines.Text()) {
			continue
		}
		seen, err := c.run()
		if err != nil {
			status := "-"
			var failure *llamaspeculative.Error
			if errors.As(err, &failure) {
				status = failure.Status.String()
			}
			seen = fmt.Sprintf("error %s %s\n", status, err)
		}
		fmt.Fprintf(out, "case %s %s\n%send\n", c.name, c.layer, seen)
		c = newCase()
	}
}

func newCase() *runCase {
	return &runCase{params: llamaspeculative.DefaultParams(), sequences: 1}
}

// take takes one line; true at the end of the case.
func (c *runCase) take(line string) bool {
	key, rest, _ := strings.Cut(line, " ")
	first, second, _ := strings.Cut(rest, " ")
	switch key {
	case "case":
		c.name, c.layer = first, second
	case "target":
		c.target = rest
	case "draft":
		c.draft = rest
	case "load_mtp":
		c.loadMTP = rest == "1"
	case "sequences":
		c.sequences = number(rest)
	case "context":
		set(&c.context, first, second)
	case "params":
		set(c.params, first, second)
	case "n_predict":
		c.nPredict = number(rest)
	case "stop":
		stop, err := hex.DecodeString(rest)
		must(err)
		c.stops = append(c.stops, string(stop))
	case "prompt":
		for _, token := range strings.Fields(rest) {
			c.prompt = append(c.prompt, number(token))
		}
	case "end":
		return true
	default:
		panic("this runner does not know " + key)
	}
	return false
}

// set sets a field by its name in the spec.
func set(target any, name, value string) {
	var words strings.Builder
	for _, word := range strings.Split(name, "_") {
		words.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	field := reflect.ValueOf(target).Elem().FieldByName(words.String())
	if !field.IsValid() {
		panic("this runner does not know " + name)
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(value)
	case reflect.Float32:
		float, err := strconv.ParseFloat(value, 32)
		must(err)
		field.SetFloat(float)
	default:
		field.SetInt(int64(number(value)))
	}
}

func (c *runCase) run() (string, error) {
	switch c.layer {
	case "session":
		return c.session()
	case "loop":
		return c.onContexts(c.rounds)
	case "primitives":
		return c.onContexts(c.primitives)
	}
	panic("this runner does not know the layer " + c.layer)
}

func (c *runCase) session() (string, error) {
	params := llamaspeculative.DefaultSessionParams()
	params.Model, params.ModelDraft = c.target, c.draft
	params.NCtx, params.NBatch, params.NUbatch, params.NSeqMax = c.context.NCtx, c.context.NBatch, c.context.NUbatch, c.sequences
	params.NThreads = 1
	params.Speculative = c.params
	session, err := suite.Library().OpenSession(params)
	if err != nil {
		return "", err
	}
	defer session.Close()
	limits := llamaspeculative.DefaultGenParams()
	limits.NPredict, limits.Stops = c.nPredict, c.stops
	var text strings.Builder
	start := time.Now()
	for piece, err := range session.Generate(context.Background(), c.prompt, limits) {
		if err != nil {
			return "", err
		}
		text.WriteString(piece.Text)
	}
	seconds := time.Since(start).Seconds()
	result, err := session.Result()
	return fmt.Sprintf("text %x\nseconds %.6f\ndrafted 0 %d\naccepted 0 %d\nfinish 0 %s\n", text.String(), seconds, result.NDrafted, result.NAccepted, result.Finish), err
}

// onContexts makes contexts of the user's own, and a spec on them.
func (c *runCase) onContexts(body func(*suite.Context, *llamaspeculative.Spec) (string, error)) (string, error) {
	library := suite.Library()
	target, err := suite.LoadModel(c.target, c.loadMTP)
	must(err)
	defer target.Free()
	var draft *suite.Model
	if c.draft != "" {
		draft, err = suite.LoadModel(c.draft, false)
		must(err)
		defer draft.Free()
	}
	needs, err := library.Requirements(target.Get(), draft.Get(), c.params)
	if err != nil {
		return "", err
	}
	options := c.context
	options.NCtx, options.NSeqMax, options.NRSSeq = options.NCtx*c.sequences, c.sequences, needs.NRSSeq
	ctx := suite.NewContext(target, options)
	defer ctx.Free()
	draftContext, err := library.NewDraftContext(ctx.Get(), draft.Get(), c.params)
	if err != nil {
		return "", err
	}
	defer draftContext.Close()
	spec, err := library.NewSpec(ctx.Get(), draftContext.Get(), c.params)
	if err != nil {
		return "", err
	}
	defer spec.Close()
	return body(ctx, spec)
}

func (c *runCase) rounds(_ *suite.Context, spec *llamaspeculative.Spec) (string, error) {
	emitted := make([][]int32, c.sequences)
	for seqID := range c.sequences {
		if err := spec.SeqSetLimits(seqID, -1, c.nPredict); err != nil {
			return "", err
		}
		seqIDs := make([]int32, len(c.prompt))
		for i := range seqIDs {
			seqIDs[i] = seqID
		}
		if _, err := spec.Decode(&llamaspeculative.Batch{Token: c.prompt, SeqID: seqIDs}); err != nil {
			return "", err
		}
	}
	for {
		status, err := spec.Decode(nil)
		if err != nil {
			return "", err
		}
		if status != llamaspeculative.StatusOK {
			break
		}
		for seqID := range emitted {
			tokens, err := spec.AcceptedTokens(int32(seqID))
			if err != nil {
				return "", err
			}
			emitted[seqID] = append(emitted[seqID], tokens...)
		}
	}
	var text strings.Builder
	for seqID, tokens := range emitted {
		stats, err := spec.Stats(int32(seqID), "")
		if err != nil {
			return "", err
		}
		info, err := spec.SeqInfo(int32(seqID))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "tokens %d%s\ndrafted %d %d\naccepted %d %d\nfinish %d %s\n",
			seqID, listed(tokens), seqID, stats.NDrafted, seqID, stats.NAccepted, seqID, info.Finish)
	}
	return text.String(), nil
}

func (c *runCase) primitives(target *suite.Context, spec *llamaspeculative.Spec) (string, error) {
	pos0 := int32(0)
	decodeAndShow := func(tokens []int32) error {
		pos, output := target.Decode(tokens, pos0)
		return spec.Process(&llamaspeculative.Batch{Token: tokens, Pos: pos, Output: output})
	}
	// the target evaluates all but the last token, in chunks that the strategies are shown
	evaluated, last := c.prompt[:len(c.prompt)-1], c.prompt[len(c.prompt)-1]
	for rest := evaluated; len(rest) > 0; {
		chunk := rest[:min(len(rest), int(c.context.NBatch))]
		if err := decodeAndShow(chunk); err != nil {
			return "", err
		}
		pos0 += int32(len(chunk))
		rest = rest[len(chunk):]
	}
	if err := spec.Begin(0, evaluated); err != nil {
		return "", err
	}
	var emitted []int32
	drafted, accepted := 0, 0
	for int32(len(emitted)) < c.nPredict {
		if err := spec.DraftRequest(0, pos0, last, c.nPredict-int32(len(emitted))-1); err != nil {
			return "", err
		}
		if _, err := spec.Draft(); err != nil {
			return "", err
		}
		draft, err := spec.DraftTokens(0)
		if err != nil {
			return "", err
		}
		if err := decodeAndShow(append([]int32{last}, draft...)); err != nil {
			return "", err
		}
		agreed := 0
		for agreed < len(draft) && target.Greedy(agreed) == draft[agreed] {
			agreed++
		}
		last = target.Greedy(agreed)
		emitted = append(append(emitted, draft[:agreed]...), last)
		if err := spec.Accept(0, int32(agreed)); err != nil {
			return "", err
		}
		pos0 += 1 + int32(agreed)
		target.RemoveFrom(pos0)
		drafted += len(draft)
		accepted += agreed
	}
	return fmt.Sprintf("tokens 0%s\ndrafted 0 %d\naccepted 0 %d\n", listed(emitted), drafted, accepted), nil
}

func listed(tokens []int32) string {
	var text strings.Builder
	for _, token := range tokens {
		fmt.Fprintf(&text, " %d", token)
	}
	return text.String()
}

func number(text string) int32 {
	value, err := strconv.ParseInt(text, 10, 32)
	must(err)
	return int32(value)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
