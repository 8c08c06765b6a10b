import { useState } from 'react';
import type { Schemas } from '../../api';
import { Copyable, Section, SelectField } from '../../ui';

/** The same from a terminal, as lines to paste. */
export function TerminalLines({ resources }: { readonly resources: readonly Schemas['ResourceDto'][] }) {
  const [chosen, setChosen] = useState('');
  const resource = resources.find(({ id }) => id === chosen) ?? resources[0]!;
  const options = `-r ${quoted(resource.name)}${resource.needsReason ? ' --reason "${REASON:?}"' : ''}`;
  return (
    <Section title="From a terminal">
      <SelectField
        name="terminal-resource"
        label="Resource"
        value={resource.id}
        onChange={setChosen}
        options={resources.map((each) => [each.id, each.name] as const)}
      />
      {resource.needsReason ? <p>It needs a reason. Set it first: REASON=…</p> : null}
      <p>Access while a command runs:</p>
      <Copyable label="Line for a command" text={`drawbridge run ${options} -- COMMAND`} />
      <p>Access while one connection is open, as in ProxyCommand of SSH:</p>
      <Copyable
        label="Line for a connection"
        text={`drawbridge connect ${options} ${hostAndPort(resource.endpoint)}`}
      />
      <details>
        <summary>Get the command line</summary>
        <Copyable label="Lines that install the command line" text={installLines(location.origin)} />
      </details>
    </Section>
  );
}

const installLines = (origin: string): string =>
  [
    `curl -fsSLo drawbridge ${origin}/downloads/drawbridge.mjs && chmod +x drawbridge`,
    'sudo mv drawbridge /usr/local/bin/',
    `drawbridge login --url ${origin}`,
  ].join('\n');

/** One word of a shell. */
const quoted = (text: string): string =>
  /^[\w.,:/@%+=][\w.,:/@%+=-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Words to replace stand for what the resource does not say. */
function hostAndPort(endpoint: string | null): string {
  const read = /^\[?(?<host>[^\]]+?)\]?:(?<port>\d+)$/.exec(endpoint ?? '')?.groups;
  return `${quoted(read?.['host'] ?? endpoint ?? 'HOST')} ${read?.['port'] ?? 'PORT'}`;
}
