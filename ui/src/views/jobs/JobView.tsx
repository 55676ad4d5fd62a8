export function JobView() {
  return <div />;
}
