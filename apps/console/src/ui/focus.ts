/** What has the focus and what is around it, innermost first; empty: nothing, or the person has left it. */
let held: readonly Element[] = [];

/** Moves the focus to a heading, from which the keyboard and a screen reader go on. */
export function focusOn(heading: HTMLElement | null | undefined): void {
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** Of what is left around the removed element, or of the screen. */
const headingIn = (left: Element | undefined): HTMLElement | null =>
  left?.closest('section, dialog')?.querySelector<HTMLElement>('h2') ??
  document.querySelector<HTMLElement>('main h1');

function goOn(): void {
  if (held[0] === undefined || held[0].isConnected || document.activeElement !== document.body) return;
  focusOn(headingIn(held.find((each) => each.isConnected)));
}

/** When what has the focus is removed, as a button with its row or a link with its screen, the heading above it gets the focus. */
export function keepFocus(): void {
  document.addEventListener('focusin', (event) => {
    held = event.composedPath().filter((each) => each instanceof Element);
  });
  document.addEventListener('focusout', ({ target }) =>
    queueMicrotask(() => {
      // a click beside everything
      if ((target as Element).isConnected && document.activeElement === document.body) held = [];
    }),
  );
  new MutationObserver(goOn).observe(document, { childList: true, subtree: true });
}
