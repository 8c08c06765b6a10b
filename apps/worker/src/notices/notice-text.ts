import { type Mail, plainName } from '#mail';
import { type Notice, timeOf } from './notices';

/** Notices in one mail; of more, it says how many. */
const MAX_SHOWN = 50;
/** Of the console, where people choose. */
const SWITCHES = '/account';

/** One mail that tells a person all of these notices, one at least. @param publicUrl of the console; undefined: no links */
export function noticeMail(
  to: string,
  organizationName: string,
  notices: readonly Notice[],
  publicUrl: string | undefined,
): Mail {
  const base = publicUrl?.replace(/\/$/, '');
  const name = plainName(organizationName);
  const more = notices.length - MAX_SHOWN;
  const [first] = notices;
  const parts = [
    ...notices.slice(0, MAX_SHOWN).map((notice) => shown(notice, base)),
    ...(more > 0 ? [`… and ${more} more`] : []),
    `You get this as a member of ${name}.${base === undefined ? '' : ` Choose what you get: ${base}${SWITCHES}`}`,
  ];
  return {
    to,
    subject: notices.length === 1 ? `${first!.title} (${name})` : `${notices.length} notices of ${name}`,
    text: `${parts.join('\n\n')}\n`,
    unsubscribe: base && `${base}${SWITCHES}`,
  };
}

const shown = ({ at, title, details, path }: Notice, base: string | undefined): string =>
  [`${timeOf(at)}: ${title}`, ...details, ...(base === undefined ? [] : [`${base}${path}`])].join('\n');
