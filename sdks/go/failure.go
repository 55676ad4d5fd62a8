package campanile

import (
	"context"
	"errors"
	"fmt"

	v1 "campanile.dev/sdk-go/executorv1"
)

// Class says what a failure means for the next attempt.
type Class int

const (
	// Unspecified leaves it to the rules of the job; without a rule it counts as transient.
	Unspecified Class = iota
	// ClassTransient is network, lock, time-out: worth another try.
	ClassTransient
	// ClassBusiness is bad parameters, no permission: would fail again in the same way.
	ClassBusiness
	// ClassSystem is out of memory, disk full: retried sooner, and an alarm at once.
	ClassSystem
)

// Failure is why an attempt did not succeed. Any code may be used; it is shown as it stands.
type Failure struct {
	Class   Class
	Code    string
	Message string
	// Chinese is the same sentence in Chinese, where there is one.
	Chinese string
	// Cause is for errors.Is and errors.As; the node does not see it.
	Cause error
}

func (f *Failure) Error() string { return f.Code + ": " + f.Message }

func (f *Failure) Unwrap() error { return f.Cause }

// Zh adds the sentence in Chinese.
func (f *Failure) Zh(message string) *Failure {
	f.Chinese = message
	return f
}

// Because keeps what broke for errors.Is and errors.As.
func (f *Failure) Because(cause error) *Failure {
	f.Cause = cause
	return f
}

// Transient is a failure that is worth another try.
func Transient(code, message string) *Failure {
	return &Failure{Class: ClassTransient, Code: code, Message: message}
}

// Business is a failure that would come again in the same way.
func Business(code, message string) *Failure {
	return &Failure{Class: ClassBusiness, Code: code, Message: message}
}

// System is a failure of the machine: retried sooner, and an alarm at once.
func System(code, message string) *Failure {
	return &Failure{Class: ClassSystem, Code: code, Message: message}
}

// ErrCancelled is what a processor returns when it ended because it was asked to. context.Canceled says the same.
var ErrCancelled = errors.New("cancelled")

// What the SDK itself fails an attempt with.
func parametersRefused(field, problem string) *Failure {
	return Business("k_sc_ec_300010", fmt.Sprintf("parameter %s is not right: %s", field, problem)).
		Zh(fmt.Sprintf("参数 %s 不正确：%s", field, problem))
}

func secretMissing(name string) *Failure {
	return Business("k_sc_ec_300040", "there is no secret "+name+" for this executor's group").
		Zh("该执行器组没有名为 " + name + " 的密钥值")
}

func secretClosed(name string) *Failure {
	return Business("k_sc_ec_300041", "secret "+name+" cannot be opened here: it is sealed to another key than this executor's").
		Zh("此处无法打开密钥值 " + name + "：它加密到的不是该执行器的密钥")
}

func panicked(detail string) *Failure {
	return Business("k_sc_ec_300018", "the processor panicked: "+detail).Zh("Processor 崩溃（panic）：" + detail)
}

func executorLeft() *Failure {
	return Transient("k_sc_ec_300021", "the executor shut down before the task ended").Zh("任务结束前 Executor 已关闭")
}

func leaseLost() *Failure {
	return Transient("k_sc_ec_300022", "the executor lost its lease and stopped the task").Zh("Executor 失去租约，任务已停止")
}

func resultTooLarge(bytes int) *Failure {
	return Business("k_sc_ec_300028", fmt.Sprintf("the result has %d bytes, at most %d are kept", bytes, maxResultBytes)).
		Zh(fmt.Sprintf("结果为 %d 字节，最多保留 %d 字节", bytes, maxResultBytes))
}

func cancelledUnasked() *Failure {
	return Business("k_sc_ec_300030", "the processor ended as cancelled although nobody asked").Zh("Processor 在无人请求时自行取消")
}

func incomplete() *Failure {
	return Transient("k_sc_ec_300050", errIncomplete.Error()).Zh("数据到齐之前连接中断").Because(errIncomplete)
}

func lockWasLost() *Failure {
	return Transient("k_sc_ec_300070", "a lock that the task held was lost").Zh("任务持有的锁已丢失")
}

func locksUnavailable(problem, zh string) *Failure {
	return Transient("k_sc_ec_300074", "no locks are given out now: "+problem).Zh("暂时无法分配锁：" + zh)
}

func lockNotHeld(lock string) *Failure {
	return Transient("k_sc_ec_300075", "lock "+lock+" is not held any more").Zh("锁 " + lock + " 已不再持有")
}

// isCancellation is about what a processor returned, not about whether anybody asked.
func isCancellation(err error) bool {
	return errors.Is(err, ErrCancelled) || errors.Is(err, context.Canceled)
}

// finished is what the node is told of err, cut to what it takes.
func (f *Failure) finished() *v1.Finished {
	return &v1.Finished{Outcome: &v1.Finished_Failed{Failed: &v1.Failure{
		Class:     v1.FailureClass(f.Class),
		Code:      f.Code,
		MessageEn: cut(f.Message, maxFailureBytes),
		MessageZh: cut(f.Chinese, maxFailureBytes),
	}}}
}

// asFailure gives an error of any kind the form of a failure.
func asFailure(err error) *Failure {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure
	}
	return &Failure{Class: Unspecified, Code: "error", Message: err.Error(), Cause: err}
}
