// Conveniences of the upload pages: dropping files, progress, and a warning before
// answers are lost. The forms work without them.
(function () {
  "use strict";

  function size(n) {
    var units = ["B", "KiB", "MiB", "GiB"], i = 0;
    while (n >= 1024 && i < units.length - 1) { n /= 1024; i++; }
    return (i ? n.toPrecision(3) : String(n)) + " " + units[i];
  }

  // Step 1: choose or drop files, then send them with their progress.
  var form = document.querySelector("form[data-drop]");
  if (form) {
    var input = form.querySelector("input[type=file]");
    var chosen = form.querySelector("[data-chosen]");
    var bar = form.querySelector("[data-progress]");
    var words = form.querySelector("[data-progress-words]");
    var problem = form.querySelector("[data-drop-problem]");
    var button = form.querySelector("button[type=submit]");
    var limit = Number(form.dataset.max);
    form.querySelector("[data-drop-words]").hidden = false;

    var say = function (text) {
      problem.textContent = text;
      problem.hidden = !text;
    };
    var show = function () {
      chosen.textContent = "";
      var total = 0;
      Array.prototype.forEach.call(input.files, function (f) {
        var row = document.createElement("li"), name = document.createElement("span"), bytes = document.createElement("span");
        name.textContent = f.name;
        bytes.textContent = size(f.size);
        row.append(name, bytes);
        chosen.append(row);
        total += f.size;
      });
      chosen.hidden = input.files.length === 0;
      say(total > limit ? "These files have " + size(total) + " together; the limit is " + size(limit) + "." : "");
    };
    input.addEventListener("change", show);

    var depth = 0;
    var hasFiles = function (e) { return e.dataTransfer && Array.prototype.indexOf.call(e.dataTransfer.types, "Files") >= 0; };
    document.addEventListener("dragenter", function (e) {
      if (!hasFiles(e)) return;
      depth++;
      form.classList.add("drop-over");
    });
    document.addEventListener("dragleave", function (e) {
      if (!hasFiles(e) || --depth > 0) return;
      depth = 0;
      form.classList.remove("drop-over");
    });
    document.addEventListener("dragover", function (e) { if (hasFiles(e)) e.preventDefault(); });
    document.addEventListener("drop", function (e) {
      if (!hasFiles(e)) return;
      e.preventDefault();
      depth = 0;
      form.classList.remove("drop-over");
      if (!e.dataTransfer.files.length) return;
      input.files = e.dataTransfer.files;
      show();
    });

    form.addEventListener("submit", function (e) {
      e.preventDefault();
      if (!problem.hidden && problem.textContent.indexOf("limit") >= 0) return;
      say("");
      var request = new XMLHttpRequest();
      button.disabled = true;
      bar.hidden = false;
      request.upload.addEventListener("progress", function (p) {
        if (!p.lengthComputable) return;
        bar.value = 100 * p.loaded / p.total;
        words.textContent = p.loaded < p.total ? size(p.loaded) + " of " + size(p.total) + " sent" : "Reading the files";
      });
      var over = function (text) {
        button.disabled = false;
        bar.hidden = true;
        words.textContent = "";
        say(text);
      };
      request.addEventListener("load", function () {
        if (request.status < 400) {
          location.assign(request.responseURL);
          return;
        }
        var detail = new DOMParser().parseFromString(request.responseText, "text/html").querySelector(".error-detail");
        over(detail ? detail.textContent : "The server refused the files with status " + request.status + ".");
      });
      request.addEventListener("error", function () { over("The upload broke off. Nothing of it was kept; try again."); });
      request.open("POST", form.action);
      request.send(new FormData(form));
    });
  }

  // Work on a large upload: follow it, then load the page that shows its result.
  var working = document.querySelector("[data-working]");
  if (working) {
    var meter = working.querySelector("progress");
    var text = working.querySelector("[data-working-words]");
    var poll = function () {
      fetch(working.dataset.working, { cache: "no-store" }).then(function (r) { return r.ok ? r.json() : { over: true }; }).then(function (p) {
        if (p.over) {
          location.reload();
          return;
        }
        if (p.total > 0) {
          meter.value = 100 * p.done / p.total;
          text.textContent = size(p.done) + " of " + size(p.total) + " read";
        }
        setTimeout(poll, 500);
      }, function () {
        text.textContent = "The connection broke; trying again.";
        setTimeout(poll, 3000);
      });
    };
    setTimeout(poll, 500);
  }

  // Answers that were changed have no effect until they are previewed.
  var answers = document.querySelector("form[data-answers]");
  var confirm = document.querySelector("form[data-confirm]");
  if (answers && confirm) {
    answers.addEventListener("input", function () {
      var go = confirm.querySelector("button[value=confirm]");
      if (go) go.disabled = true;
      confirm.querySelector("[data-confirm-words]").textContent = "Preview with the changed answers first.";
    });
  }
})();
