/** The page's body; the script fills the lists. */
export const MARKUP = `
<header>
  <h1>Simulated cloud</h1>
  <p>The rules that are open now, as the cloud holds them, independent of Drawbridge.</p>
  <span id="link" role="status">connecting</span>
</header>
<main>
  <div class="column">
    <div id="targets" aria-live="polite"></div>
    <p id="closed"></p>
    <section class="panel">
      <h2>Timeline</h2>
      <ol id="timeline"></ol>
    </section>
  </div>
  <aside class="column">
    <section class="panel">
      <h2>Add an unmanaged rule</h2>
      <form id="unmanaged">
        <label class="wide">Target <select name="target"></select></label>
        <label class="wide">Address or range <input name="address" value="198.51.100.7" required></label>
        <label>Protocol
          <select name="protocol"><option>tcp</option><option>udp</option><option>icmp</option><option>all</option></select>
        </label>
        <label>Ports, from to
          <input name="ports" value="443" pattern="[0-9]{1,5}(-[0-9]{1,5})?" title="443, or 8000-8100, or nothing for all">
        </label>
        <p class="message" role="alert"></p>
        <button>Add the rule</button>
      </form>
    </section>
    <section class="panel">
      <div class="row"><h2>Faults</h2><button class="small" id="clear" type="button">End all</button></div>
      <ul id="faults"></ul>
      <form id="fault">
        <label class="wide">Kind <select name="kind"></select></label>
        <label class="wide">Target
          <select name="target"><option value="">every target</option></select>
        </label>
        <label class="wide">Operation
          <select name="operation"><option value="">every operation</option></select>
        </label>
        <label>Calls <input name="count" type="number" min="1" placeholder="any number"></label>
        <label>Seconds <input name="seconds" type="number" min="1" value="30"></label>
        <label class="wide">Delay in ms, for slow, stale-read and throttle <input name="delayMs" type="number" min="0" placeholder="5000"></label>
        <p class="message" role="alert"></p>
        <button class="main">Start the fault</button>
      </form>
    </section>
    <section class="panel">
      <div class="row"><h2>Identity provider</h2><button class="small" id="down" type="button"></button></div>
      <ul id="people"></ul>
    </section>
    <section class="panel">
      <h2>Reset</h2>
      <button id="reset" type="button">Remove every rule, fault and record</button>
    </section>
  </aside>
</main>
`;
