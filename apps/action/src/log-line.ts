import { visible } from '#client';

/**
 * A line of the job's log. Texts of the server are among it, so nothing may begin another line, and the runner may take
 * nothing for a command of ours: it knows `::name::` at the beginning of a line, and `##[name]` anywhere.
 */
export const logLine = (message: string): string =>
  visible(message)
    .replace(/^\s*::/, ': :')
    .replaceAll('##[', '## [');
