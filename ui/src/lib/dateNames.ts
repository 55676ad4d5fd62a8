// What days of the week and months are called. Whole dates come from the node as text; these are for heads of columns and
// for dates on a wall calendar.

export const LONG_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
export const DAYS = LONG_DAYS.map((day) => day.slice(0, 3));
export const ZH_DAYS = ["一", "二", "三", "四", "五", "六", "日"];

export const LONG_MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
export const MONTHS = LONG_MONTHS.map((month) => month.slice(0, 3));
