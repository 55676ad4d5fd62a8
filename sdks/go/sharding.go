package campanile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"

	v1 "campanile.dev/sdk-go/executorv1"
)

// ShardingProcessor is work that is cut into shards, which run at many executors. It may implement PreProcessor,
// Notifier and PostProcessor too.
type ShardingProcessor interface {
	// ShardingProcess does the work of one shard (Task.Shard). Outcomes of single items are reported by Task.Item; an
	// item that was reported is not handed out again when the shard is retried. Without any, the shard is judged by
	// what this returns.
	ShardingProcess(ctx context.Context, task *Task, items Items) (result any, err error)
}

// PreProcessor runs once, at one executor, before anything else. What it adds to data takes the place of what the job
// has; when it adds nothing the job's own is kept.
type PreProcessor interface {
	PreProcess(ctx context.Context, task *Task, items Items, data *NewData) error
}

// Notifier is told when progress has grown by the job's notifyStep. Its failure fails nothing.
type Notifier interface {
	Notify(ctx context.Context, task *Task, progress Notice) error
}

// PostProcessor runs once all shards are final, failed ones included; not after a cancel.
type PostProcessor interface {
	PostProcess(ctx context.Context, task *Task, ends ShardEnds) (result any, err error)
}

// Shard is which piece of the data an attempt has. Levels and shards are counted from 0, rounds from 1.
type Shard struct {
	Level, LevelCount int
	Index, Count      int
	Round             int
	ItemCount         uint64
}

// Item is one value of the data and its place in its level.
type Item struct {
	Level int
	Index uint64
	Value json.RawMessage
}

// Items come as they arrive, once. An error means that the stream broke before the last: the attempt fails and is
// tried again, whatever the processor returns.
type Items = iter.Seq2[Item, error]

// Notice is how far all shards together are.
type Notice struct {
	ItemsDone, ItemsTotal uint64
	Percent               float64
}

// ShardEnd is how one shard ended: 301 succeeded, 302 failed, 303 cancelled.
type ShardEnd struct {
	Level, Shard int
	Code         int
	Result       json.RawMessage
	Failure      *Failure
}

// ShardEnds come by level and then by shard, once; an error as with Items.
type ShardEnds = iter.Seq2[ShardEnd, error]

// errIncomplete ends a feed whose stream broke.
var errIncomplete = errors.New("the stream broke before all of the data was here")

// feed is what follows a push: pieces of data or ends of shards, in order. The session puts, the processor takes.
type feed struct {
	mutex  sync.Mutex
	news   chan struct{}
	data   []*v1.ShardData
	ends   []*v1.ShardEnds
	whole  bool
	broken bool
}

func newFeed(whole bool) *feed { return &feed{news: make(chan struct{}, 1), whole: whole} }

// put is called by the session alone.
func (f *feed) put(data *v1.ShardData, ends *v1.ShardEnds) {
	f.mutex.Lock()
	if data != nil {
		f.data = append(f.data, data)
	}
	if ends != nil {
		f.ends = append(f.ends, ends)
	}
	f.whole = f.whole || data.GetLast() || ends.GetLast()
	f.mutex.Unlock()
	f.tell()
}

func (f *feed) tell() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// breakOff ends what has not come whole; true when it had not.
func (f *feed) breakOff() bool {
	f.mutex.Lock()
	f.broken = f.broken || !f.whole
	broken := f.broken
	f.mutex.Unlock()
	f.tell()
	return broken
}

// begun: there is something to start with.
func (f *feed) begun() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.whole || len(f.data) > 0 || len(f.ends) > 0
}

func (f *feed) isBroken() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.broken
}

// take waits for the next piece: nil, nil and no error after the last.
func (f *feed) take(ctx context.Context) (*v1.ShardData, *v1.ShardEnds, error) {
	for {
		f.mutex.Lock()
		switch {
		case len(f.data) > 0:
			data := f.data[0]
			f.data[0] = nil
			f.data = f.data[1:]
			f.mutex.Unlock()
			return data, nil, nil
		case len(f.ends) > 0:
			ends := f.ends[0]
			f.ends[0] = nil
			f.ends = f.ends[1:]
			f.mutex.Unlock()
			return nil, ends, nil
		case f.broken:
			f.mutex.Unlock()
			return nil, nil, errIncomplete
		case f.whole:
			f.mutex.Unlock()
			return nil, nil, nil
		}
		f.mutex.Unlock()
		select {
		case <-f.news:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

func (f *feed) items(ctx context.Context) Items {
	return func(yield func(Item, error) bool) {
		for {
			data, _, err := f.take(ctx)
			if err != nil {
				yield(Item{}, err)
				return
			}
			if data == nil {
				return
			}
			for _, item := range data.Items {
				if !yield(Item{int(data.Level), item.Index, json.RawMessage(item.ValueJson)}, nil) {
					return
				}
			}
		}
	}
}

func (f *feed) shardEnds(ctx context.Context) ShardEnds {
	return func(yield func(ShardEnd, error) bool) {
		for {
			_, ends, err := f.take(ctx)
			if err != nil {
				yield(ShardEnd{}, err)
				return
			}
			if ends == nil {
				return
			}
			for _, end := range ends.Ends {
				if !yield(asShardEnd(end), nil) {
					return
				}
			}
		}
	}
}

func asShardEnd(end *v1.ShardEnd) ShardEnd {
	ended := ShardEnd{Level: int(end.Level), Shard: int(end.Shard), Code: int(end.Code)}
	if end.ResultJson != nil {
		ended.Result = json.RawMessage(*end.ResultJson)
	}
	if failure := end.Error; failure != nil {
		ended.Failure = &Failure{
			Class: Class(failure.Class), Code: failure.Code, Message: failure.MessageEn, Chinese: failure.MessageZh,
		}
	}
	return ended
}

// NewData takes what PreProcess puts in the place of the job's data.
type NewData struct {
	task    *Task
	level   int
	pending []string
	bytes   int
	began   bool
}

// Add appends a value to a level; levels come in order, beginning with 0. It waits while too much is under way, and
// returns an error when the attempt is to end.
func (d *NewData) Add(level int, value any) error {
	if level < d.level {
		return Business("k_sc_ec_300053", fmt.Sprintf("level %d was added after level %d", level, d.level)).
			Zh(fmt.Sprintf("层级 %d 在层级 %d 之后加入", level, d.level))
	}
	text, err := asJSON(value)
	if err != nil {
		return Business("k_sc_ec_300051", "an item is not JSON: "+err.Error()).Zh("有一项不是 JSON：" + err.Error()).Because(err)
	}
	if len(text) > maxItemBytes {
		return Business("k_sc_ec_300052", fmt.Sprintf("an item has %d bytes, at most %d are taken", len(text), maxItemBytes)).
			Zh(fmt.Sprintf("单项为 %d 字节，最多 %d 字节", len(text), maxItemBytes))
	}
	if level != d.level || d.bytes+len(text) > maxDataBytes || len(d.pending) >= maxItemsPerReport {
		if err := d.send(false); err != nil {
			return err
		}
		d.level = level
	}
	d.began = true
	d.pending = append(d.pending, string(text))
	d.bytes += len(text)
	return nil
}

func (d *NewData) send(last bool) error {
	if len(d.pending) == 0 && !last {
		return nil
	}
	piece := &v1.NewData{Level: uint32(d.level), ItemsJson: d.pending, Last: last}
	d.pending, d.bytes = nil, 0
	if !d.task.outbox.newData(piece, d.task.Reached(Ask)) {
		return ErrCancelled
	}
	return nil
}

func (h *hosted) shardingMethods(processor ShardingProcessor) {
	h.methods[v1.Method_METHOD_SHARDING_PROCESS] = func(ctx context.Context, task *Task, feed *feed) (any, error) {
		return processor.ShardingProcess(ctx, task, feed.items(ctx))
	}
	if pre, does := processor.(PreProcessor); does {
		h.methods[v1.Method_METHOD_PRE_PROCESS] = func(ctx context.Context, task *Task, feed *feed) (any, error) {
			data := &NewData{task: task}
			if err := pre.PreProcess(ctx, task, feed.items(ctx), data); err != nil {
				return nil, err
			}
			if !data.began {
				return nil, nil
			}
			return nil, data.send(true)
		}
	}
	if notifier, does := processor.(Notifier); does {
		h.methods[v1.Method_METHOD_NOTIFY] = func(ctx context.Context, task *Task, _ *feed) (any, error) {
			notice := task.push.GetNotice()
			return nil, notifier.Notify(ctx, task, Notice{notice.GetItemsDone(), notice.GetItemsTotal(), notice.GetPercent()})
		}
	}
	if post, does := processor.(PostProcessor); does {
		h.methods[v1.Method_METHOD_POST_PROCESS] = func(ctx context.Context, task *Task, feed *feed) (any, error) {
			return post.PostProcess(ctx, task, feed.shardEnds(ctx))
		}
	}
}
