// Writes quartz.txt: what Quartz's own CronExpression says of generated expressions.
//
//   java -cp 'quartz-2.3.2.jar:slf4j-api-1.7.7.jar' Quartz.java > quartz.txt
//
// (both jars from Maven Central: org.quartz-scheduler:quartz and org.slf4j:slf4j-api). A line is
//
//   expression TAB zone TAB from TAB next next next …
//
// with `from` in seconds since 1970 and each further time as the seconds since the one before, all in base 36;
// `!` in place of the times where Quartz refuses the expression, nothing where it never fires.
import java.util.Date;
import java.util.Random;
import java.util.StringJoiner;
import java.util.TimeZone;
import org.quartz.CronExpression;

class Quartz {
    static final Random DICE = new Random(20261121);
    static final String[] WEEKDAYS = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
    static final String[] MONTHS = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
    static final String[] ZONES = {"UTC", "UTC", "UTC", "Asia/Shanghai", "Europe/Berlin"};

    static int from(int first, int last) {
        return first + DICE.nextInt(last - first + 1);
    }

    static String number(int first, int last, String[] names, int firstNamed) {
        int number = from(first, last);
        return names != null && DICE.nextInt(3) == 0 ? names[number - firstNamed] : String.valueOf(number);
    }

    static String part(int first, int last, String[] names, int step) {
        switch (DICE.nextInt(8)) {
            case 0:
                return "*";
            case 1:
                return "*/" + from(1, step);
            case 2:
                return from(first, last) + "/" + from(1, step);
            case 3:
                // Quartz passes over a step that follows names, so names have none here.
                if (names != null && DICE.nextBoolean()) {
                    return names[DICE.nextInt(names.length)] + "-" + names[DICE.nextInt(names.length)];
                }
                return from(first, last) + "-" + from(first, last);
            case 4:
                return from(first, last) + "-" + from(first, last) + "/" + from(1, Math.min(step, 9));
            default:
                return number(first, last, names, first);
        }
    }

    static String field(int first, int last, String[] names, int step) {
        int parts = DICE.nextInt(4) == 0 ? from(2, 4) : 1;
        StringJoiner list = new StringJoiner(",");
        for (int i = 0; i < parts; i++) {
            list.add(part(first, last, names, step));
        }
        return list.toString();
    }

    static String daysOfMonth() {
        switch (DICE.nextInt(10)) {
            case 0:
                return "L";
            case 1:
                return "L-" + from(0, 12);
            case 2:
                return "LW";
            case 3:
                return "L-" + from(0, 12) + "W";
            // Alone, since this Quartz has no lists with W or L; and none that some months lack, which it rolls over.
            case 4:
            case 5:
            case 6:
                return from(1, 28) + "W";
            case 7:
                return "*";
            default:
                return field(1, 31, null, 31);
        }
    }

    static String weekdays() {
        switch (DICE.nextInt(6)) {
            case 0:
                return number(1, 7, WEEKDAYS, 1) + "#" + from(1, 5);
            case 1:
                return number(1, 7, WEEKDAYS, 1) + "L";
            case 2:
                return DICE.nextInt(4) == 0 ? "L" : from(1, 7) + "-" + from(1, 7);
            default:
                return field(1, 7, WEEKDAYS, 7);
        }
    }

    static String expression() {
        String seconds = DICE.nextInt(3) == 0 ? field(0, 59, null, 59) : "0";
        String minutes = field(0, 59, null, 59);
        String hours = field(0, 23, null, 23);
        boolean byMonth = DICE.nextBoolean();
        String days = byMonth ? daysOfMonth() : "?";
        String months = DICE.nextInt(3) == 0 ? field(1, 12, MONTHS, 12) : "*";
        String weekdays = byMonth ? "?" : weekdays();
        if (DICE.nextInt(60) == 0) {
            // What is wrong has to be refused.
            switch (DICE.nextInt(6)) {
                case 0: days = "*"; weekdays = "*"; break;
                case 1: days = "?"; weekdays = "?"; break;
                case 2: minutes = "0/60"; break;
                case 3: days = "32"; weekdays = "?"; break;
                case 4: days = "?"; weekdays = "2#6"; break;
                default: days = "?"; weekdays = "2#1,6#3"; break;
            }
        }
        String years = DICE.nextInt(8) == 0 ? " " + from(2020, 2035) + (DICE.nextBoolean() ? "-" + from(2036, 2060) : "/" + from(1, 9)) : "";
        return seconds + " " + minutes + " " + hours + " " + days + " " + months + " " + weekdays + years;
    }

    public static void main(String[] arguments) {
        for (int i = 0; i < 5000; i++) {
            String expression = expression();
            String zone = ZONES[DICE.nextInt(ZONES.length)];
            long from = 1_420_070_400L + (long) (DICE.nextDouble() * 630_000_000L);
            StringJoiner times = new StringJoiner(" ");
            try {
                CronExpression cron = new CronExpression(expression);
                cron.setTimeZone(TimeZone.getTimeZone(zone));
                long at = from;
                for (int n = 0; n < 4; n++) {
                    Date next = cron.getTimeAfter(new Date(at * 1000));
                    // Quartz looks on for ever; the answer far away costs it seconds and proves nothing.
                    if (next == null || next.getTime() / 1000 > from + 3_000_000_000L) {
                        break;
                    }
                    times.add(Long.toString(next.getTime() / 1000 - at, 36));
                    at = next.getTime() / 1000;
                }
            } catch (java.text.ParseException refused) {
                times.add("!");
            }
            System.out.println(expression + "\t" + zone + "\t" + Long.toString(from, 36) + "\t" + times);
        }
    }
}
