// Follows an attempt that is running: the chart grows, the tables below it are
// replaced, and at its end the page is loaded once more.
(function () {
  "use strict";
  var state = document.querySelector("[data-live]");
  if (!state || !window.EventSource) return;
  var words = state.querySelector("[data-live-words]");
  var body = document.getElementById("live-body");
  var source = new EventSource(state.dataset.live);
  var first = true;
  source.addEventListener("attempt", function (e) {
    var update = JSON.parse(e.data);
    if (window.rebench && window.rebench.updateChart) window.rebench.updateChart("attempt", update.option);
    if (!first) body.innerHTML = update.html; // from this server, escaped there
    first = false;
    if (update.ended) {
      source.close();
      location.reload();
      return;
    }
    var score = update.score === null ? "no valid score yet" : "score " + update.score.toFixed(3) + " so far";
    words.textContent = "Running, " + score + ".";
  });
  source.addEventListener("error", function () {
    words.textContent = source.readyState === EventSource.CLOSED
      ? "The connection ended. Load the page again."
      : "The connection broke; trying again.";
  });
})();
