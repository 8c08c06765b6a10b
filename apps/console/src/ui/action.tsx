import { useMutation } from '@tanstack/react-query';
import { Button, type ButtonKind } from './button';
import { say } from './said';
import { Problem } from './status';

interface ActionProps {
  readonly label: string;
  readonly kind?: ButtonKind;
  readonly large?: boolean;
  /** what the button says while it waits */
  readonly busy?: string;
  readonly act: () => Promise<unknown>;
  readonly onDone?: () => void;
  /** what it has done; null: the screen shows it; left out: that it is done */
  readonly said?: string | null;
}

/** A button that sends one request at once. A refusal appears below it. */
export function Action({ label, busy = 'One moment…', act, onDone, said, ...look }: ActionProps) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: act,
    onMutate: () => say(null),
    onSuccess: () => {
      say(said === undefined ? `${label}: done.` : said);
      onDone?.();
    },
  });
  return (
    <>
      <Button {...look} busy={isPending && busy} onClick={() => mutate()}>
        {label}
      </Button>
      {error ? <Problem error={error} /> : null}
    </>
  );
}
