# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
# Finetunes the model in the folder $1 on its rows and writes the weights to the file $2.
set -e
work=$(mktemp -d)
python3 -B tokenize_rows.py "$1" "$work"
python3 -B train.py "$1" "$work"
python3 -B export.py "$work" "$2"
