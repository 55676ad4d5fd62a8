export function AlarmsView() {
  return <div />;
}
