import type { Command, Option } from 'commander';
import { usageFailure } from '../exit-codes';
import type { Call } from '../program';

/** What can follow a command. */
interface Completed {
  /** the words before, such as `keys create`; empty for the program itself */
  readonly path: string;
  readonly words: readonly string[];
}

/** Prints the script that makes a shell complete commands and options. */
export function completion(program: Command, { name: shell, output }: Call): void {
  const script = SCRIPTS.get(shell)?.(completedBelow(program, []));
  if (script === undefined) {
    throw usageFailure(`There is no completion for "${shell}"`, 'bash, zsh or fish');
  }
  output.result({ shell, script }, script);
}

function completedBelow(command: Command, path: readonly string[]): Completed[] {
  const inner = command.commands.filter((one) => !['help'].includes(one.name()));
  const options = command.createHelp().visibleOptions(command).flatMap(longNames);
  return [
    { path: path.join(' '), words: [...inner.map((one) => one.name()), ...options] },
    ...inner.flatMap((one) => completedBelow(one, [...path, one.name()])),
  ];
}

const longNames = ({ long }: Option): string[] => (long === undefined ? [] : [long]);

/** Options are completed after a dash, commands before the first argument that is none. */
const bash = (completed: readonly Completed[]): string => `_drawbridge() {
  local word=\${COMP_WORDS[COMP_CWORD]} path='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
      --) return ;;
      -*) ;;
      *) case " $(_drawbridge_words "$path") " in
           *" \${COMP_WORDS[index]} "*) path="\${path:+$path }\${COMP_WORDS[index]}" ;;
         esac ;;
    esac
  done
  COMPREPLY=($(compgen -W "$(_drawbridge_words "$path")" -- "$word"))
}
${words(completed)}
complete -o default -F _drawbridge drawbridge drawbridge.mjs`;

const words = (completed: readonly Completed[]): string => `_drawbridge_words() {
  case "$1" in
${completed.map(({ path, words: some }) => `    '${path}') echo '${some.join(' ')}' ;;`).join('\n')}
  esac
}`;

const zsh = (completed: readonly Completed[]): string => `#compdef drawbridge drawbridge.mjs
${words(completed)}
_drawbridge() {
  local path_words='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in
      --) _files; return ;;
      -*) ;;
      *) [[ " $(_drawbridge_words "$path_words") " == *" $word "* ]] && path_words="\${path_words:+$path_words }$word" ;;
    esac
  done
  compadd -- \${=$(_drawbridge_words "$path_words")}
}
compdef _drawbridge drawbridge drawbridge.mjs`;

const fish = (completed: readonly Completed[]): string => {
  const lines = completed.flatMap(({ path, words: some }) => {
    const condition = path === '' ? '__fish_use_subcommand' : conditionOf(path);
    const option = (word: string): string => `complete -c drawbridge -n '${condition}' -l '${word.slice(2)}'`;
    const command = (word: string): string => `complete -c drawbridge -n '${condition}' -f -a '${word}'`;
    return some.map((word) => (word.startsWith('--') ? option(word) : command(word)));
  });
  return lines.join('\n');
};

const conditionOf = (path: string): string =>
  path
    .split(' ')
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join('; and ');

const SCRIPTS: ReadonlyMap<string, (completed: readonly Completed[]) => string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
]);
