// Search from the disk: browsers refuse workers in pages opened as files, so the search script runs in a hidden frame.
if (location.protocol === "file:") {
  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = this.inner = frame.contentWindow;
      const load = (address) => new Promise((done, failed) => {
        const script = inner.document.createElement("script");
        script.src = new URL(address, location);
        script.onload = done;
        script.onerror = failed;
        inner.document.body.append(script);
      });
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...addresses) => addresses.reduce((before, next) => before.then(() => load(next)), Promise.resolve());
      this.ready = load(url);
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })));
    }
  }
  window.IFrameWorker = FrameWorker; // the search script looks for this name to find its language files
  window.Worker = FrameWorker;
}
