export function PulseView() {
  return <div />;
}
