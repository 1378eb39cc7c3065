// Search in pages that are opened from a folder: browsers start no workers there, so a hidden frame takes the place
// of one. Messages to it and from it arrive as those of a worker do.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    #waiting = []; // messages from before the script was there
    #frame = document.createElement("iframe");
    #send = (data) => this.#waiting.push(data);

    constructor(url) {
      super();
      this.#frame.hidden = true;
      this.#frame.addEventListener("load", () => this.#start(url), { once: true });
      document.body.append(this.#frame);
    }

    #start(url) {
      const inside = this.#frame.contentWindow;
      const load = (address) =>
        new Promise((done, failed) => {
          const script = inside.document.createElement("script");
          Object.assign(script, { src: address, onload: done, onerror: failed });
          inside.document.body.append(script);
        });
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...addresses) => Promise.all(addresses.map(load));
      load(url).then(() => {
        this.#send = (data) => inside.dispatchEvent(new inside.MessageEvent("message", { data }));
        this.#waiting.forEach(this.#send);
      });
    }

    postMessage(data) {
      this.#send(data);
    }

    terminate() {
      this.#frame.remove();
    }
  };
