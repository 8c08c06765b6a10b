import type { LeaseListener } from '#client';
import type { Output } from '../output';
import { timeText } from '../terminal/times';

/** Says what happens to the access while something works with it. Nothing is ended. */
export const leaseNotes = (output: Output): LeaseListener => ({
  lost: (reason, endsAt) =>
    output.note(
      `the access cannot be renewed (${reason}): unless that changes it ends at ${timeText(endsAt)}; what runs goes on`,
    ),
  regained: () => output.note('the access is renewed again'),
  ended: (reason) => output.note(`the access has ended (${reason}); what runs goes on without it`),
});
