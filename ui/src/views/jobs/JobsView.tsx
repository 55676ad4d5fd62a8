export function JobsView() {
  return <div />;
}
