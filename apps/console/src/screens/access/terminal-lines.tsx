import { useState } from 'react';
import type { Schemas } from '../../api';
import { Copyable, Muted, Section, SelectField, Stack } from '../../ui';
import styles from './access.module.css';

type Resource = Schemas['ResourceDto'];

/** The same from a terminal, as lines to paste. */
export function TerminalLines({ resources }: { readonly resources: readonly Resource[] }) {
  const [chosen, setChosen] = useState('');
  const resource = resources.find(({ id }) => id === chosen) ?? resources[0]!;
  const name = quoted(resource.name);
  const [host, port] = hostAndPort(resource.endpoint);
  return (
    <Section title="From a terminal">
      {resources.length > 1 ? (
        <div className={styles['narrow']}>
          <SelectField
            name="terminal-resource"
            label="Resource"
            value={resource.id}
            onChange={setChosen}
            options={resources.map((each) => [each.id, each.name] as const)}
          />
        </div>
      ) : null}
      <Stack>
        <div>
          <Muted>Access while a command runs</Muted>
          <Copyable label="Line for a command" text={`drawbridge run -r ${name} -- COMMAND`} />
        </div>
        <div>
          <Muted>Access while one connection is open, as in ProxyCommand of SSH</Muted>
          <Copyable label="Line for a connection" text={`drawbridge connect -r ${name} ${host} ${port}`} />
        </div>
        <details>
          <summary>Get the command line</summary>
          <Copyable label="Lines that install the command line" text={installLines(location.origin)} />
        </details>
      </Stack>
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
function hostAndPort(endpoint: string | null): readonly [host: string, port: string] {
  const read = /^\[?(?<host>[^\]]+?)\]?:(?<port>\d+)$/.exec(endpoint ?? '')?.groups;
  return [quoted(read?.['host'] ?? endpoint ?? 'HOST'), read?.['port'] ?? 'PORT'];
}
